#include "wafer/report/html_parts.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>

#include "wafer/report/typeset.h"

namespace wafer::report {
namespace {

std::string words_of(const Column& column, const Cell& cell) {
  std::string words = typeset(cell);
  if (column.key == "bound") std::replace(words.begin(), words.end(), '_', ' ');
  words = escaped(words);
  if (cell.value) return words;
  // Long names such as gpt:layers=40,hidden=5120 may break after a comma.
  for (size_t at = 0; (at = words.find(',', at)) != std::string::npos; at += 6) {
    if (at + 1 < words.size() && words[at + 1] != ' ') words.insert(at + 1, "<wbr>");
  }
  return words;
}

std::string content(const Column& column, const Cell& cell) {
  if (!cell.value) return words_of(column, cell);
  return fmt::format("<data value=\"{}\" data-key=\"{}\">{}</data>", *cell.value,
                     escaped(column.key), words_of(column, cell));
}

// Short words stay on one line: names of machines would break at their hyphens.
const char* style_of(const Column& column, std::string_view words = "") {
  constexpr size_t Short = 18;
  if (column.align == Align::Right) return " class=\"number\"";
  return !words.empty() && words.size() <= Short ? " class=\"short\"" : "";
}

// Wide tables scroll in their own frame, by keyboard as well.
std::string framed_table(std::string_view caption, const std::string& head,
                         const std::string& body) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n<table>\n"
      "<caption>{0}</caption>\n<thead>\n{1}</thead>\n<tbody>\n{2}</tbody>\n</table>\n</div>\n",
      escaped(caption), head, body);
}

}  // namespace

std::string html_of(const Section& section) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}"
      "</section>\n",
      section.id, escaped(section.title), section.body);
}

std::string navigation(const std::vector<Section>& sections) {
  std::string links;
  for (const Section& s : sections) {
    links += fmt::format("<a href=\"#{}\">{}</a>\n", s.id, escaped(s.title));
  }
  return "<nav aria-label=\"Sections\">\n" + links + "</nav>\n";
}

std::string paragraph(std::string_view words, std::string_view style) {
  return fmt::format("<p{}>{}</p>\n", style.empty() ? "" : fmt::format(" class=\"{}\"", style),
                     escaped(words));
}

std::string html_list(const std::vector<std::string>& lines, std::string_view element) {
  if (lines.empty()) return "";
  std::string items;
  for (const std::string& line : lines) items += fmt::format("<li>{}</li>\n", escaped(line));
  return fmt::format("<{0}>\n{1}</{0}>\n", element, items);
}

std::string html_of(const Table& table, std::string_view caption) {
  std::string head = "<tr>", body;
  for (const Column& column : table.columns) {
    head += fmt::format("<th scope=\"col\"{}>{}</th>", style_of(column), escaped(column.title));
  }
  for (const std::vector<Cell>& row : table.rows) {
    body += fmt::format("<tr><th scope=\"row\">{}</th>", content(table.columns[0], row[0]));
    for (size_t i = 1; i < row.size(); ++i) {
      body += fmt::format("<td{}>{}</td>", style_of(table.columns[i], row[i].text),
                          content(table.columns[i], row[i]));
    }
    body += "</tr>\n";
  }
  return framed_table(caption, head + "</tr>\n", body);
}

std::string html_sideways(const Table& table, std::string_view caption) {
  std::string head = fmt::format("<tr><th scope=\"col\">{}</th>", escaped(table.columns[0].title));
  for (const std::vector<Cell>& row : table.rows) {
    head += fmt::format("<th scope=\"col\" class=\"number\">{}</th>",
                        content(table.columns[0], row[0]));
  }
  std::string body;
  for (size_t i = 1; i < table.columns.size(); ++i) {
    body += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(table.columns[i].title));
    for (const std::vector<Cell>& row : table.rows) {
      body += fmt::format("<td class=\"number\">{}</td>", content(table.columns[i], row[i]));
    }
    body += "</tr>\n";
  }
  return framed_table(caption, head + "</tr>\n", body);
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

}  // namespace wafer::report
