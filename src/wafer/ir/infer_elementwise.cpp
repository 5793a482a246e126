// Types of sources (constant, iota, rng) and of what works one element at a time.
#include <cmath>

#include "wafer/ir/typing.h"

namespace wafer::ir {
namespace {

enum Classes : uint8_t { Floats = 1, Signed = 2, Unsigned = 4, Bool = 8 };
constexpr uint8_t Integers = Signed | Unsigned;
constexpr uint8_t Numbers = Floats | Integers;

/// Rule ELT3: what each function takes.
uint8_t classes_of(ElementFn fn) {
  switch (fn) {
    case ElementFn::Abs:
    case ElementFn::Negate:
    case ElementFn::Sign:
    case ElementFn::Add:
    case ElementFn::Subtract:
    case ElementFn::Multiply:
    case ElementFn::Divide:
    case ElementFn::Remainder:
    case ElementFn::Power:
    case ElementFn::Clamp:
      return Numbers;
    case ElementFn::Maximum:
    case ElementFn::Minimum:
    case ElementFn::Equal:
    case ElementFn::NotEqual:
    case ElementFn::Less:
    case ElementFn::LessEqual:
    case ElementFn::Greater:
    case ElementFn::GreaterEqual:
    case ElementFn::Select:
      return Numbers | Bool;
    case ElementFn::Not:
    case ElementFn::And:
    case ElementFn::Or:
    case ElementFn::Xor:
      return Integers | Bool;
    case ElementFn::ShiftLeft:
    case ElementFn::ShiftRightLogical:
    case ElementFn::ShiftRightArithmetic:
      return Integers;
    default:
      return Floats;
  }
}

uint8_t class_of(DType dtype) {
  if (is_float(dtype)) return Floats;
  if (dtype == DType::Bool) return Bool;
  return is_signed_integer(dtype) ? Signed : Unsigned;
}

/// Rule ELT4: comparisons and is_finite, is_nan answer with bool.
bool gives_bool(ElementFn fn) {
  return fn == ElementFn::IsFinite || fn == ElementFn::IsNan ||
         (fn >= ElementFn::Equal && fn <= ElementFn::GreaterEqual);
}

bool in_range(DType dtype, int64_t x) {
  const int bits = 8 * size_in_bytes(dtype);
  if (dtype == DType::Bool) return x == 0 || x == 1;
  if (bits == 64) return true;  // u64 as its bits
  if (is_signed_integer(dtype))
    return x >= -(int64_t{1} << (bits - 1)) && x < int64_t{1} << (bits - 1);
  return x >= 0 && x < int64_t{1} << bits;
}

/// Rule CONST4: each element is one of the type.
void check_range(const Typing& t, const Literal& literal) {
  const DType dtype = literal.type.dtype;
  for (double x : literal.floats) {
    if (dtype == DType::F64) break;
    t.require(std::isnan(x) || round_to(dtype, x) == x, "CONST4", "{} holds no {}", name_of(dtype),
              x);
  }
  for (int64_t x : literal.integers) {
    t.require(in_range(dtype, x), "CONST4", "{} holds no {}", name_of(dtype), x);
  }
}

/// Rule CONST2: as many elements as the type has, of its class.
void check_elements(const Typing& t, const Literal& literal) {
  const bool floats = is_float(literal.type.dtype);
  t.require(floats ? literal.integers.empty() : literal.floats.empty(), "CONST2",
            "{} holds {}, found the other kind of elements", literal.type,
            floats ? "floats" : "integers");
  const size_t found = floats ? literal.floats.size() : literal.integers.size();
  if (literal.elided || literal.splat) {
    const size_t expected = literal.elided ? 0 : 1;
    t.require(found == expected && literal.elided != literal.splat, "CONST2",
              "a splat holds one element and an elided literal none; found {}", found);
    return;
  }
  const Dim count = element_count(literal.type.shape);
  t.require(count.is_static(), "CONST3", "elements of {} can be listed only once it is bound",
            literal.type);
  t.require(found == static_cast<size_t>(count.value()), "CONST2", "{} has {} elements; found {}",
            literal.type, count, found);
}

}  // namespace

bool takes(ElementFn fn, DType dtype) { return (classes_of(fn) & class_of(dtype)) != 0; }

std::string taken_by(ElementFn fn) {
  switch (classes_of(fn)) {
    case Floats:
      return "floats";
    case Integers:
      return "integers";
    case Numbers:
      return "numbers";
    case Integers | Bool:
      return "integers or bool";
    default:
      return "any element";
  }
}

Types type_constant(const Typing& t) {
  const Literal& literal = *t.attrs.get<LiteralRef>(AttrKey::Value);
  for (const Dim& dim : literal.type.shape) {
    t.require(dim.factor() >= 0, "TYPE3", "dimensions are not negative; found {}", literal.type);
  }
  check_elements(t, literal);
  check_range(t, literal);
  return {literal.type};  // CONST1
}

Types type_iota(const Typing& t) {
  const TensorType& type = t.declared_one();
  t.require_dim("IOTA1", t.integer(AttrKey::Dim), type.shape.size());
  t.require(type.dtype != DType::Bool, "IOTA2", "counts in numbers; found {}", type);
  return {type};
}

Types type_rng(const Typing& t) {
  const TensorType& type = t.declared_one();
  const auto& distribution = t.attrs.get<std::string>(AttrKey::Distribution);
  t.require(distribution == "uniform" || distribution == "normal", "RNG1",
            "distribution is uniform or normal; found \"{}\"", distribution);
  t.require(is_float(type.dtype), "RNG2", "makes floats; found {}", type);
  const auto a = t.attrs.get<double>(AttrKey::Axis0);
  const auto b = t.attrs.get<double>(AttrKey::Axis1);
  t.require(std::isfinite(a) && std::isfinite(b) && (distribution == "uniform" ? a <= b : b >= 0),
            "RNG3", "uniform takes a <= b, normal a deviation b of at least 0; found {} and {}", a,
            b);
  return {type};
}

Types type_elementwise(const Typing& t) {
  const auto fn = t.attrs.get<ElementFn>(AttrKey::Fn);
  const auto arity = static_cast<size_t>(arity_of(fn));
  t.require(t.operands.size() == arity, "ELT1", "{} takes {} operands, not {}", name_of(fn), arity,
            t.operands.size());
  const bool select = fn == ElementFn::Select;
  t.require_equal_types("ELT2", select ? 1 : 0, arity);
  const TensorType& type = t.operands.back();
  if (select) {
    const TensorType& predicate = t.operands.front();
    t.require(predicate.dtype == DType::Bool && predicate.shape == type.shape, "ELT5",
              "select takes a bool for each element of {}; found {}", type, predicate);
  }
  t.require(takes(fn, type.dtype), "ELT3", "{} takes {}, not {}", name_of(fn), taken_by(fn), type);
  return {{gives_bool(fn) ? DType::Bool : type.dtype, type.shape}};  // ELT4
}

Types type_convert(const Typing& t) {
  const TensorType& type = t.declared_one();
  t.require(type.shape == t.operands[0].shape, "CVT1", "keeps the shape of {}; found {}",
            t.operands[0], type);
  return {type};
}

}  // namespace wafer::ir
