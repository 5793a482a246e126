#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "wafer/base/error.h"
#include "wafer/ir/text.h"
#include "wafer/ir/text_common.h"

namespace wafer::ir {
namespace {

std::string float_text(double x) { return std::isnan(x) ? "nan" : fmt::format("{}", x); }

/// The shortest digits that give the element back when read as its type.
std::string element_text(DType dtype, double x) {
  if (dtype == DType::F64 || std::isnan(x) || std::isinf(x)) return float_text(x);
  return fmt::format("{}", static_cast<float>(x));
}

std::string element_text(DType dtype, int64_t x) {
  if (dtype == DType::U64) return std::to_string(static_cast<uint64_t>(x));
  return std::to_string(x);
}

template <typename T>
std::string elements_text(const Literal& literal, const std::vector<T>& elements) {
  const DType dtype = literal.type.dtype;
  if (literal.splat && elements.size() == 1) return element_text(dtype, elements[0]);
  std::string text = "[";
  for (const T& x : elements) {
    if (text.size() > 1) text += ", ";
    text += element_text(dtype, x);
  }
  return text + "]";
}

std::string literal_text(const Literal& literal) {
  if (literal.elided) return "elided";
  return is_float(literal.type.dtype) ? elements_text(literal, literal.floats)
                                      : elements_text(literal, literal.integers);
}

std::string ints_text(const Ints& ints) { return fmt::format("[{}]", fmt::join(ints, ", ")); }

struct AttrPrinter {
  const Graph& graph;
  std::string operator()(bool x) const { return x ? "true" : "false"; }
  std::string operator()(int64_t x) const { return std::to_string(x); }
  std::string operator()(double x) const { return float_text(x); }
  std::string operator()(const std::string& x) const { return quoted(x); }
  std::string operator()(const Ints& x) const { return ints_text(x); }
  std::string operator()(const DimPairs& x) const {
    return ints_text(x.lhs) + "x" + ints_text(x.rhs);
  }
  std::string operator()(ElementFn x) const { return std::string(name_of(x)); }
  std::string operator()(FunctionId x) const { return function_text(graph, x); }
  std::string operator()(const std::vector<FunctionId>& x) const {
    std::string text = "[";
    for (FunctionId id : x) text += (text.size() > 1 ? ", " : "") + function_text(graph, id);
    return text + "]";
  }
  std::string operator()(const LiteralRef& x) const {
    return x == nullptr ? "elided" : literal_text(*x);
  }
};

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  std::string print() {
    put("graph {}\n", quoted(graph_.name));
    for (size_t i = 0; i < graph_.functions.size(); ++i) print_function(FunctionId(i));
    return fmt::to_string(out_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
  }

  void print_function(FunctionId id) {
    const Function& function = graph_.function(id);
    numbers_ = numbering(function);
    put("\n{}func {} {{\n", id == graph_.main ? "entry " : "", function_text(graph_, id));
    for (const Input& input : function.inputs) print_input(function, input);
    for (const Op& op : function.ops) print_op(function, op);
    for (const Output& output : function.outputs) {
      put("  output {} %{}\n", quoted(output.name), numbers_.at(output.value.index));
    }
    put("}}\n");
  }

  void print_input(const Function& function, const Input& input) {
    put("  input %{} {} : {}", numbers_[input.value.index], quoted(input.name),
        function.type_of(input.value).text());
    if (input.role != Role::Data) put(" role({})", name_of(input.role));
    if (input.frozen) put(" frozen");
    if (input.donated_output != -1) put(" donates({})", input.donated_output);
    put("\n");
  }

  void print_op(const Function& function, const Op& op) {
    put("  ");
    print_values(op.results);
    put("{}{}", op.results.empty() ? "" : " = ", spelled_kind(op));
    if (!op.operands.empty()) put(" ");
    print_values(op.operands);
    print_attributes(op);
    for (size_t i = 0; i < op.results.size(); ++i) {
      put("{}{}", i == 0 ? " : " : ", ", function.type_of(op.results[i]).text());
    }
    if (op.phase != Phase::Forward) put(" phase({})", name_of(op.phase));
    if (!op.layer.empty()) put(" layer({})", quoted(op.layer));
    if (!op.scope.empty()) put(" scope({})", quoted(op.scope));
    if (!op.location.empty()) put(" loc({})", quoted(op.location));
    put("\n");
  }

  void print_values(const std::vector<ValueId>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      put("{}%{}", i == 0 ? "" : ", ", numbers_.at(values[i].index));
    }
  }

  void print_attributes(const Op& op) {
    bool first = true;
    for (const auto& [key, value] : op.attrs) {
      if (op.kind == OpKind::Elementwise && key == AttrKey::Fn) continue;
      put("{}{} = {}", first ? " {" : ", ", name_of(key), attr_text(graph_, value));
      first = false;
    }
    if (!first) put("}}");
  }

  const Graph& graph_;
  std::vector<uint32_t> numbers_;
  fmt::memory_buffer out_;
};

bool is_word(std::string_view text) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '-';
  });
}

}  // namespace

std::vector<uint32_t> numbering(const Function& function) {
  std::vector<uint32_t> numbers(function.values.size(), ValueId::Invalid);
  uint32_t next = 0;
  const auto number = [&](ValueId v) {
    WAFER_CHECK(v.index < numbers.size(), function.name);
    numbers[v.index] = next++;
  };
  for (const Input& input : function.inputs) number(input.value);
  for (const Op& op : function.ops) std::for_each(op.results.begin(), op.results.end(), number);
  return numbers;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string function_text(const Graph& graph, FunctionId id) {
  if (id.index >= graph.functions.size()) return "@\"\"";
  const std::string& name = graph.function(id).name;
  return "@" + (is_word(name) ? name : quoted(name));
}

std::string attr_text(const Graph& graph, const AttrValue& value) {
  return std::visit(AttrPrinter{graph}, value);
}

std::string_view spelled_kind(const Op& op) {
  const auto* value = op.kind == OpKind::Elementwise ? op.attrs.find(AttrKey::Fn) : nullptr;
  const auto* fn = value == nullptr ? nullptr : std::get_if<ElementFn>(value);
  return fn == nullptr ? name_of(op.kind) : name_of(*fn);
}

std::string print_text(const Graph& graph) { return Printer(graph).print(); }

}  // namespace wafer::ir
