#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wafer/base/units.h"

namespace wafer {

/// Element types. Cb16 is the 16-bit float with 1 sign, 6 exponent and 9 mantissa bits that the
/// vendor calls cbfloat16. Its exponent bias is programmable; here it is 42, the one of the only
/// published bit pattern, 6.0 = 0 101100 100000000 (**Source:** Cerebras SDK documentation, CSL
/// types; that the top exponent holds infinity and NaN is assumed).
enum class DType : uint8_t {
  F64,
  F32,
  F16,
  Bf16,
  Cb16,
  F8e4m3fn,
  F8e5m2,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool,
};
inline constexpr int DTypeCount = 16;

/// The name in text form: "f32", "bf16", "f8e4m3fn", "i64", "bool", ...
std::string_view name_of(DType type);
/// The type of a text-form name; nothing when there is none.
std::optional<DType> dtype_named(std::string_view name);

/// Storage of one element in bytes (bool takes one).
int size_in_bytes(DType type);
bool is_float(DType type);
/// Signed or unsigned integer; bool is not.
bool is_integer(DType type);
bool is_signed_integer(DType type);

/// The value nearest to `x` that `type` can hold, as a double: floats round to nearest even and
/// overflow to infinity (f8e4m3fn, which has none, to NaN); integers truncate toward zero and
/// saturate at their bounds, NaN gives 0; bool is x != 0.
double round_to(DType type, double x);

/// Bits of the 16-bit and 8-bit formats to and from double, exact where representable. `bits`
/// occupies the low size_in_bytes(type) bytes. Only for float types of at most 16 bits.
double decode_small_float(DType type, uint16_t bits);
uint16_t encode_small_float(DType type, double x);

}  // namespace wafer
