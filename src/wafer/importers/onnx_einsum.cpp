#include "wafer/importers/onnx_einsum.h"

#include <algorithm>
#include <cctype>

#include "wafer/base/error.h"

namespace wafer::importers {
namespace {

using ir::Ints;

/// Letters of an operand, one a dimension. Dimensions that "..." stands for are digits, counted so
/// that the last is '9' in each operand.
struct Labels {
  std::string letters;
  int ellipsis = 0;  ///< dimensions that "..." stands for
};

[[noreturn]] void refuse(const std::string& equation) {
  throw InputError("equation \"" + equation + "\" is not supported");
}

std::string without_blanks(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

std::string ellipsis_letters(int count) {
  std::string letters;
  for (int i = 0; i < count; ++i) letters += static_cast<char>('9' - count + 1 + i);
  return letters;
}

Labels labels_of(const std::string& equation, std::string term, int rank) {
  const size_t dots = term.find("...");
  const bool letters = std::all_of(term.begin(), term.end(), [](unsigned char ch) {
    return std::isalpha(ch) != 0 || ch == '.';
  });
  if (!letters) refuse(equation);
  Labels labels;
  if (dots != std::string::npos) {
    labels.ellipsis = rank - static_cast<int>(term.size()) + 3;
    if (labels.ellipsis < 0 || labels.ellipsis > 9) refuse(equation);
    term.replace(dots, 3, ellipsis_letters(labels.ellipsis));
  }
  std::string sorted = term;
  std::sort(sorted.begin(), sorted.end());
  const bool repeats = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  const bool known =
      std::all_of(term.begin(), term.end(), [](unsigned char ch) { return std::isalnum(ch) != 0; });
  if (repeats || !known || static_cast<int>(term.size()) != rank) refuse(equation);
  labels.letters = term;
  return labels;
}

int64_t place(const std::string& letters, char letter) {
  const size_t at = letters.find(letter);
  return at == std::string::npos ? -1 : static_cast<int64_t>(at);
}

/// x with its dimensions named `from` in the order `to`; sums over those that `to` lacks.
Term arranged(Folder& f, Term x, std::string from, const std::string& to) {
  Ints summed;
  std::string rest;
  for (size_t i = 0; i < from.size(); ++i) {
    if (place(to, from[i]) < 0) {
      summed.push_back(static_cast<int64_t>(i));
    } else {
      rest += from[i];
    }
  }
  x = f.reduce(ir::ElementFn::Add, x, summed);
  Ints order;
  for (char letter : to) order.push_back(place(rest, letter));
  return f.transpose(x, order);
}

/// Without the dimensions that neither the other operand nor the result has.
Term presummed(Folder& f, const Term& x, std::string& letters, const std::string& others) {
  std::string kept;
  for (char letter : letters) {
    if (place(others, letter) >= 0) kept += letter;
  }
  const Term result = arranged(f, x, letters, kept);
  letters = kept;
  return result;
}

Term product(Folder& f, Term a, std::string a_letters, Term b, std::string b_letters,
             const std::string& result) {
  a = presummed(f, a, a_letters, b_letters + result);
  b = presummed(f, b, b_letters, a_letters + result);
  ir::DimPairs contract, batch;
  std::string batch_letters, a_free, b_free;
  for (char letter : a_letters) {
    const int64_t l = place(a_letters, letter);
    const int64_t r = place(b_letters, letter);
    if (r < 0) {
      a_free += letter;
      continue;
    }
    ir::DimPairs& pairs = place(result, letter) < 0 ? contract : batch;
    pairs.lhs.push_back(l);
    pairs.rhs.push_back(r);
    if (&pairs == &batch) batch_letters += letter;
  }
  for (char letter : b_letters) {
    if (place(a_letters, letter) < 0) b_free += letter;
  }
  const Term made = f.dot_general(a, b, contract, batch);
  return arranged(f, made, batch_letters + a_free + b_free, result);
}

/// Without an arrow: the letters that occur once, in alphabetical order, behind the ellipsis.
std::string implied_result(const std::string& left) {
  std::string sorted = left, result;
  std::sort(sorted.begin(), sorted.end());
  for (char letter : sorted) {
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0) continue;
    if (std::count(left.begin(), left.end(), letter) == 1) result += letter;
  }
  return (left.find("...") == std::string::npos ? "" : "...") + result;
}

}  // namespace

Term einsum(Folder& f, const std::string& equation, const Terms& operands) {
  const std::string text = without_blanks(equation);
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::string result = arrow == std::string::npos ? implied_result(left) : text.substr(arrow + 2);
  const size_t comma = left.find(',');
  const size_t count = comma == std::string::npos ? 1 : 2;
  if (operands.size() != count) refuse(equation);
  const Labels a = labels_of(equation, left.substr(0, comma), operands[0].rank());
  Labels b;
  if (count == 2) b = labels_of(equation, left.substr(comma + 1), operands[1].rank());
  const size_t dots = result.find("...");
  if (dots != std::string::npos) {
    result.replace(dots, 3, ellipsis_letters(std::max(a.ellipsis, b.ellipsis)));
  }
  for (char letter : result) {
    const bool once = std::count(result.begin(), result.end(), letter) == 1;
    if (!once || (place(a.letters, letter) < 0 && place(b.letters, letter) < 0)) refuse(equation);
  }
  if (count == 1) return arranged(f, operands[0], a.letters, result);
  return product(f, operands[0], a.letters, operands[1], b.letters, result);
}

}  // namespace wafer::importers
