#include "wafer/ir/attr_reader.h"

#include <fmt/format.h>

#include <charconv>

#include "wafer/base/error.h"
#include "wafer/ir/op_table.h"

namespace wafer::ir {
namespace {

template <typename Number>
bool convert(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Narrow floats are written as f32 is.
bool convert_element(DType dtype, std::string_view text, double& value) {
  if (dtype == DType::F64) return convert(text, value);
  float narrow = 0;
  if (!convert(text, narrow)) return false;
  value = round_to(dtype, narrow);
  return true;
}

bool convert_element(DType dtype, std::string_view text, int64_t& value) {
  if (dtype != DType::U64) return convert(text, value);
  uint64_t bits = 0;
  if (!convert(text, bits)) return false;
  value = static_cast<int64_t>(bits);
  return true;
}

template <typename T>
void read_elements(const RawLiteral& raw, DType dtype, std::vector<T>& elements) {
  elements.reserve(raw.elements.size());
  for (std::string_view text : raw.elements) {
    T value{};
    if (!convert_element(dtype, text, value)) {
      Scanner::fail(raw.place, fmt::format("{} is no {}", text, name_of(dtype)));
    }
    elements.push_back(value);
  }
}

}  // namespace

LiteralRef literal_of(const RawLiteral& raw, const TensorType& type) {
  Literal literal;
  literal.type = type;
  literal.splat = !raw.list && !raw.elided;
  literal.elided = raw.elided;
  if (is_float(type.dtype)) {
    read_elements(raw, type.dtype, literal.floats);
  } else {
    read_elements(raw, type.dtype, literal.integers);
  }
  return std::make_shared<const Literal>(std::move(literal));
}

template <typename Item>
void AttrReader::list(Item item) {
  in_.expect('[');
  if (in_.take(']')) return;
  do item();
  while (in_.take(','));
  in_.expect(']');
}

void AttrReader::read(Attributes& attrs, RawLiteral& literal) {
  if (in_.take('}')) return;
  do {
    const Place place = in_.place();
    const std::string_view name = in_.word("an attribute");
    const auto key = attr_key_named(name);
    if (!key) Scanner::fail(place, fmt::format("there is no attribute \"{}\"", name));
    if (attrs.has(*key) || (*key == AttrKey::Value && literal.present)) {
      Scanner::fail(place, fmt::format("attribute {} is given twice", name));
    }
    in_.expect('=');
    if (type_of(*key) == AttrType::Literal) {
      raw_literal(literal);
    } else {
      attrs.set(*key, value(*key));
    }
  } while (in_.take(','));
  in_.expect('}');
}

AttrValue AttrReader::value(AttrKey key) {
  switch (type_of(key)) {
    case AttrType::Bool:
      return boolean();
    case AttrType::Int:
      return in_.integer();
    case AttrType::Float:
      return in_.floating();
    case AttrType::String:
      return in_.string();
    case AttrType::IntList:
      return integers();
    case AttrType::IntPairs:
      return pairs();
    case AttrType::Fn:
      return element_fn();
    case AttrType::Function:
      return function_reference();
    case AttrType::FunctionList:
      return function_references();
    case AttrType::Literal:
      break;
  }
  throw InternalError("literals are read apart");
}

bool AttrReader::boolean() {
  if (in_.take_word("true")) return true;
  if (in_.take_word("false")) return false;
  in_.fail("expected true or false");
}

Ints AttrReader::integers() {
  Ints result;
  list([&] { result.push_back(in_.integer()); });
  return result;
}

DimPairs AttrReader::pairs() {
  DimPairs result;
  result.lhs = integers();
  in_.expect('x');
  result.rhs = integers();
  return result;
}

ElementFn AttrReader::element_fn() {
  const Place place = in_.place();
  const std::string_view name = in_.word("a function");
  const auto fn = element_fn_named(name);
  if (!fn) Scanner::fail(place, fmt::format("there is no element function \"{}\"", name));
  return *fn;
}

void AttrReader::raw_literal(RawLiteral& literal) {
  literal.present = true;
  literal.place = in_.place();
  literal.list = in_.peek() == '[';
  if (literal.list) {
    list([&] { literal.elements.push_back(in_.number("an element")); });
  } else if (in_.take_word("elided")) {
    literal.elided = true;
  } else {
    literal.elements.push_back(in_.number("an element, a list of them, or elided"));
  }
}

std::string AttrReader::function_name() {
  in_.expect('@');
  return in_.peek() == '"' ? in_.string() : std::string(in_.word("a function's name"));
}

FunctionId AttrReader::function_reference() {
  const Place place = in_.place();
  references_.emplace_back(function_name(), place);
  return FunctionId(references_.size() - 1);
}

std::vector<FunctionId> AttrReader::function_references() {
  std::vector<FunctionId> result;
  list([&] { result.push_back(function_reference()); });
  return result;
}

}  // namespace wafer::ir
