#include "wafer/machine/decode.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <sstream>
#include <tuple>
#include <vector>

#include "wafer/base/error.h"
#include "wafer/base/nearest.h"
#include "wafer/machine/fields.h"

namespace wafer::machine {
namespace {

constexpr size_t LongestText = 2000;
constexpr size_t LongestList = 64;
constexpr const char* NumberForm = R"({ value = ..., mark = "...", source = "..." })";

std::string position(const std::string& file, const toml::source_region& at) {
  return fmt::format("{}:{}:{}", file, at.begin.line, at.begin.column);
}

std::string type_name(const toml::node& node) {
  std::ostringstream name;
  name << node.type();
  return name.str();
}

// Ends or garbles a line of a table or of a message.
bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// A key as a message shows it; TOML lets quoted ones hold anything.
std::string shown(std::string_view key) {
  std::string text(key.substr(0, 80));
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return key.size() > 80 ? text + "..." : text;
}

// Reads one document into a machine and notes what is wrong with it.
class Decoder {
 public:
  Decoder(const toml::table& root, const std::string& file) : root_(root), file_(file) {}

  /// From now on, a number that is absent is inherited.
  void inherit() { inherits_ = true; }
  bool inherits() const { return inherits_; }
  void text(const std::string& key, std::string& to, bool required);
  void flag(const std::string& key, bool& to);
  template <typename T>
  void number(const Field& field, Sourced<T>& to);
  /// Notes every key that was not asked for by one of the above.
  void refuse_unknown_keys();
  void note(const toml::node& at, const std::string& key, const std::string& problem) {
    notes_.push_back(
        {at.source().begin, fmt::format("{}: {}: {}", position(file_, at.source()), key, problem)});
  }
  /// For what is wrong with the file as a whole, without one line to point at.
  void note(const std::string& problem) {
    notes_.push_back({std::nullopt, fmt::format("{}: {}", file_, problem)});
  }
  bool clean() const { return notes_.empty() && missing_.empty(); }
  /// Throws InputError with all notes, in the order of the file.
  void finish();

 private:
  const toml::node* find(const std::string& key);
  std::optional<std::string> read_text(const toml::node& node, const std::string& key);
  template <typename T>
  void read_value(const toml::node& node, const Field& field, T& to);
  void read_mark(const toml::node& node, const std::string& key, Mark& to);
  std::optional<double> read_number(const toml::node& node, const Field& field, bool whole);
  void refuse_unknown_part(const toml::table& table, const std::string& key);

  const toml::table& root_;
  const std::string& file_;
  bool inherits_ = false;
  std::vector<std::string> asked_;
  struct Note {
    std::optional<toml::source_position> at;
    std::string text;
  };
  std::vector<Note> notes_;
  std::vector<std::string> missing_;
};

void Decoder::finish() {
  if (!missing_.empty()) {
    note(
        fmt::format("missing: {}. Give text in quotes, and each number as {}; or inherit what you "
                    "leave out, with base = \"wse2\"",
                    fmt::join(missing_, ", "), NumberForm));
  }
  // What has no place comes last.
  const auto order = [](const Note& note) {
    return note.at ? std::tuple(0, note.at->line, note.at->column, note.text)
                   : std::tuple(1, toml::source_index{0}, toml::source_index{0}, note.text);
  };
  std::sort(notes_.begin(), notes_.end(),
            [&](const Note& a, const Note& b) { return order(a) < order(b); });
  Problems problems;
  for (const Note& note : notes_) problems.add(note.text);
  problems.throw_if_any(fmt::format("{}: this does not describe a machine:", file_));
}

const toml::node* Decoder::find(const std::string& key) {
  asked_.push_back(key);
  const size_t dot = key.find('.');
  if (dot == std::string::npos) return root_.get(key);
  const toml::node* section = root_.get(key.substr(0, dot));
  if (section == nullptr || !section->is_table()) return nullptr;
  return section->as_table()->get(key.substr(dot + 1));
}

std::optional<std::string> Decoder::read_text(const toml::node& node, const std::string& key) {
  const auto* text = node.as_string();
  if (text == nullptr) {
    note(node, key, fmt::format("expected text in quotes, found {}", type_name(node)));
  } else if (text->get().find_first_not_of(' ') == std::string::npos) {
    note(node, key, "expected text, found none");
  } else if (text->get().size() > LongestText || has_control_character(text->get())) {
    note(node, key,
         fmt::format("expected one line of at most {} characters, found {}", LongestText,
                     has_control_character(text->get()) ? "control characters" : "more"));
  } else {
    return text->get();
  }
  return std::nullopt;
}

void Decoder::text(const std::string& key, std::string& to, bool required) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    if (required) missing_.push_back(key);
  } else if (auto read = read_text(*node, key)) {
    to = *read;
  }
}

void Decoder::flag(const std::string& key, bool& to) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (const auto* read = node->as_boolean()) {
    to = read->get();
  } else {
    note(*node, key, fmt::format("expected true or false, found {}", type_name(*node)));
  }
}

std::optional<double> Decoder::read_number(const toml::node& node, const Field& field, bool whole) {
  if (!node.is_number()) {
    note(node, field.key, fmt::format("expected a number, found {}", type_name(node)));
    return std::nullopt;
  }
  const double value = node.is_integer() ? static_cast<double>(node.as_integer()->get())
                                         : node.as_floating_point()->get();
  const std::string problem = refuse(field, value, whole);
  if (problem.empty()) return value;
  note(node, field.key, problem + "; write it in the unit of the key, or correct it");
  return std::nullopt;
}

template <typename T>
void Decoder::number(const Field& field, Sourced<T>& to) {
  const std::string key = field.key;
  const toml::node* node = find(key);
  if (node == nullptr) {
    if (!inherits_) missing_.push_back(key);
    return;
  }
  const toml::table* table = node->as_table();
  if (table == nullptr) {
    note(*node, key,
         fmt::format("expected {}, found {}; say how the value is known", NumberForm,
                     type_name(*node)));
    return;
  }
  for (const char* part : {"value", "mark", "source"}) {
    if (table->get(part) == nullptr) {
      note(*table, key, fmt::format("{} is missing: expected {}", part, NumberForm));
    }
  }
  if (const toml::node* value = table->get("value")) read_value(*value, field, to.value);
  if (const toml::node* mark = table->get("mark")) read_mark(*mark, key, to.mark);
  if (const toml::node* source = table->get("source")) {
    if (auto read = read_text(*source, key + ".source")) to.source = *read;
  }
  refuse_unknown_part(*table, key);
}

template <typename T>
void Decoder::read_value(const toml::node& node, const Field& field, T& to) {
  if constexpr (List<T>) {
    const toml::array* list = node.as_array();
    if (list == nullptr || list->empty() || list->size() > LongestList) {
      note(node, field.key,
           fmt::format("expected a list of 1 to {} whole numbers, found {}", LongestList,
                       list == nullptr ? type_name(node) : fmt::format("{}", list->size())));
      return;
    }
    to.clear();
    for (const toml::node& entry : *list) {
      if (auto read = read_number(entry, field, true)) to.push_back(static_cast<int64_t>(*read));
    }
  } else {
    if (auto read = read_number(node, field, Whole<T>)) set(to, *read);
  }
}

void Decoder::read_mark(const toml::node& node, const std::string& key, Mark& to) {
  const auto read = read_text(node, key + ".mark");
  if (!read) return;
  if (const auto mark = mark_named(*read)) {
    to = *mark;
    return;
  }
  note(node, key + ".mark",
       fmt::format("expected documented, measured, fitted, assumed or derived, found \"{}\"",
                   shown(*read)));
}

void Decoder::refuse_unknown_part(const toml::table& table, const std::string& key) {
  for (const auto& [part, node] : table) {
    if (part == "value" || part == "mark" || part == "source") continue;
    note(node, key,
         fmt::format("unknown part \"{}\": expected value, mark and source", shown(part)));
  }
}

void Decoder::refuse_unknown_keys() {
  const auto section_of = [](const std::string& key) { return key.substr(0, key.find('.')); };
  std::vector<std::string> sections;
  for (const std::string& key : asked_) {
    if (key != section_of(key)) sections.push_back(section_of(key));
  }
  const auto known = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto refuse_unknown = [&](const toml::node& node, const std::string& key) {
    if (known(asked_, key)) return;
    const std::string meant = nearest(key, asked_);
    note(node, shown(key),
         meant.empty() ? "unknown key; docs/machines.md lists those that there are"
                       : fmt::format("unknown key; did you mean {}?", meant));
  };
  for (const auto& [name, node] : root_) {
    const std::string top(name.str());
    if (!known(sections, top)) {
      refuse_unknown(node, top);
    } else if (const toml::table* section = node.as_table()) {
      for (const auto& [key, inner] : *section) {
        refuse_unknown(inner, top + "." + std::string(key.str()));
      }
    } else {
      note(node, top, fmt::format("expected a table [{}], found {}", top, type_name(node)));
    }
  }
}

/// Fills in `machine`, which holds what is inherited.
template <typename M>
M decode_machine(Decoder& decoder, std::string name, M machine) {
  machine.name = std::move(name);
  machine.calibrated = false;  // measurements of the base are not of this machine
  decoder.text("description", machine.description, true);
  decoder.text("generation", machine.generation, !decoder.inherits());
  decoder.text("process", machine.process, !decoder.inherits());
  decoder.flag("calibrated", machine.calibrated);
  visit_numbers(machine, [&](const Field& field, auto& number) { decoder.number(field, number); });
  decoder.refuse_unknown_keys();
  if (decoder.clean()) {
    for (const std::string& problem : contradictions(machine)) decoder.note(problem);
  }
  decoder.finish();
  return machine;
}

constexpr const char* WaferKind = "wafer";
constexpr const char* GpuKind = "gpu";

std::string kind_of(const Machine& machine) {
  return std::holds_alternative<Wafer>(machine) ? WaferKind : GpuKind;
}

/// The parser calls itself once for each part of a dotted key. Refuses lines with more dots than
/// any key or source could have.
void check_dots(std::string_view text, const std::string& file) {
  constexpr size_t Most = 1000;
  size_t line = 1;
  size_t dots = 0;
  for (char c : text) {
    if (c == '\n') ++line, dots = 0;
    if (c == '.' && ++dots > Most) {
      throw InputError(fmt::format("{}:{}: more than {} dots in a line", file, line, Most));
    }
  }
}

toml::table parse_toml(std::string_view text, const std::string& file) {
  check_dots(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}: this is not TOML: {}", position(file, error.source()),
                                 shown(error.description())));
  }
}

}  // namespace

Machine decode(const Source& source, const std::function<Machine(const std::string&)>& load_base) {
  const toml::table root = parse_toml(source.text, source.file);
  Decoder decoder(root, source.file);
  std::string kind, base_name;
  decoder.text("base", base_name, false);
  decoder.text("kind", kind, !root.contains("base"));
  if (!kind.empty() && kind != WaferKind && kind != GpuKind) {
    decoder.note(fmt::format("kind: expected \"{}\" or \"{}\", found \"{}\"", WaferKind, GpuKind,
                             shown(kind)));
    decoder.finish();
  }
  if (root.contains("base")) decoder.inherit();
  if (base_name.empty()) {
    if (kind == GpuKind) return decode_machine(decoder, source.name, GpuCluster{});
    return decode_machine(decoder, source.name, Wafer{});
  }
  const Machine base = load_base(base_name);
  if (!kind.empty() && kind != kind_of(base)) {
    decoder.note(
        fmt::format("kind: its base \"{}\" is of kind \"{}\", found \"{}\"; leave kind out",
                    shown(base_name), kind_of(base), kind));
    decoder.finish();
  }
  return std::visit(
      [&](const auto& kind_base) -> Machine {
        return decode_machine(decoder, source.name, kind_base);
      },
      base);
}

}  // namespace wafer::machine
