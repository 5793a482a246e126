#include "wafer/importers/onnx_wire.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "wafer/base/error.h"

static_assert(std::endian::native == std::endian::little, "protobuf numbers are read as they lie");

namespace wafer::importers {
namespace {

constexpr uint32_t StartGroup = 3;
constexpr uint32_t EndGroup = 4;
constexpr uint32_t LargestFieldNumber = (1u << 29) - 1;
constexpr int DeepestGroup = 32;

enum class Varint : uint8_t { Read, Truncated, TooLong };

/// Reads a number of at most 10 bytes and moves `at` behind it. The tenth byte has room for one
/// bit; as protobuf does, what lies beyond is dropped.
Varint decode_varint(const char*& at, const char* end, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at == end) return Varint::Truncated;
    const auto byte = static_cast<uint8_t>(*at++);
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return Varint::Read;
  }
  return Varint::TooLong;
}

template <typename T>
void append_packed(WireSource& source, std::string_view bytes, std::vector<T>& values) {
  if (bytes.size() % sizeof(T) != 0) source.fail(bytes.data(), "packed numbers of odd length");
  const size_t count = bytes.size() / sizeof(T);
  values.resize(values.size() + count);
  if (count > 0) std::memcpy(values.data() + values.size() - count, bytes.data(), bytes.size());
}

}  // namespace

void WireSource::fail(const char* at, const std::string& what) const {
  throw InputError(
      fmt::format("{}: byte {}: not a readable ONNX file: {}", name, at - bytes.data(), what));
}

WireReader::WireReader(WireSource& source, std::string_view message)
    : source_(source), at_(message.data()), end_(message.data() + message.size()) {
  if (--source_.messages_left < 0) fail("more parts than any model has");
}

bool WireReader::next(WireField& field) {
  while (at_ != end_) {
    const char* const start = at_;
    const uint64_t key = read_varint();
    if (key >> 3 == 0 || key >> 3 > LargestFieldNumber) fail("field number out of range");
    field = {};
    field.at = start;
    field.number = static_cast<uint32_t>(key >> 3);
    const auto type = static_cast<uint32_t>(key & 7);
    if (type == StartGroup) {
      skip_group(field.number);
      continue;
    }
    field.type = static_cast<WireType>(type);
    switch (type) {
      case static_cast<uint32_t>(WireType::Varint):
        field.scalar = read_varint();
        return true;
      case static_cast<uint32_t>(WireType::Fixed64):
        field.scalar = read_fixed(8);
        return true;
      case static_cast<uint32_t>(WireType::Bytes):
        field.bytes = read_bytes();
        return true;
      case static_cast<uint32_t>(WireType::Fixed32):
        field.scalar = read_fixed(4);
        return true;
      default:
        fail(fmt::format("wire type {} does not exist", type));
    }
  }
  return false;
}

uint64_t WireReader::read_varint() {
  uint64_t value = 0;
  switch (decode_varint(at_, end_, value)) {
    case Varint::Read:
      return value;
    case Varint::Truncated:
      fail("ends within a number");
    case Varint::TooLong:
      break;
  }
  fail("a number longer than 10 bytes");
}

uint64_t WireReader::read_fixed(size_t width) {
  if (static_cast<size_t>(end_ - at_) < width) fail("ends within a number");
  uint64_t value = 0;
  std::memcpy(&value, at_, width);
  at_ += width;
  return value;
}

std::string_view WireReader::read_bytes() {
  const uint64_t length = read_varint();
  const auto left = static_cast<uint64_t>(end_ - at_);
  if (length > left) fail(fmt::format("a part of {} bytes where {} are left", length, left));
  const std::string_view bytes(at_, static_cast<size_t>(length));
  at_ += length;
  return bytes;
}

void WireReader::skip_group(uint32_t number) {
  std::vector<uint64_t> open = {number};
  while (!open.empty()) {
    if (open.size() > DeepestGroup) fail("groups nested too deep");
    const uint64_t key = read_varint();
    switch (key & 7) {
      case static_cast<uint64_t>(WireType::Varint):
        read_varint();
        break;
      case static_cast<uint64_t>(WireType::Fixed64):
        read_fixed(8);
        break;
      case static_cast<uint64_t>(WireType::Bytes):
        read_bytes();
        break;
      case static_cast<uint64_t>(WireType::Fixed32):
        read_fixed(4);
        break;
      case StartGroup:
        open.push_back(key >> 3);
        break;
      case EndGroup:
        if (key >> 3 != open.back()) fail("a group that ends another");
        open.pop_back();
        break;
      default:
        fail(fmt::format("wire type {} does not exist", key & 7));
    }
  }
}

void append_varints(WireSource& source, const WireField& field, std::vector<int64_t>& values) {
  if (field.type == WireType::Varint) {
    values.push_back(static_cast<int64_t>(field.scalar));
    return;
  }
  if (field.type != WireType::Bytes) source.fail(field.at, "an integer of fixed width");
  const char* at = field.bytes.data();
  const char* const end = at + field.bytes.size();
  while (at != end) {
    uint64_t value = 0;
    if (decode_varint(at, end, value) != Varint::Read) source.fail(at, "a broken packed number");
    values.push_back(static_cast<int64_t>(value));
  }
}

void append_floats(WireSource& source, const WireField& field, std::vector<float>& values) {
  if (field.type == WireType::Fixed32) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(field.scalar)));
  } else if (field.type == WireType::Bytes) {
    append_packed(source, field.bytes, values);
  } else {
    source.fail(field.at, "a float of another width");
  }
}

void append_doubles(WireSource& source, const WireField& field, std::vector<double>& values) {
  if (field.type == WireType::Fixed64) {
    values.push_back(std::bit_cast<double>(field.scalar));
  } else if (field.type == WireType::Bytes) {
    append_packed(source, field.bytes, values);
  } else {
    source.fail(field.at, "a double of another width");
  }
}

}  // namespace wafer::importers
