#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wafer::importers {

/// How a protobuf field is laid out. **Source:** protobuf encoding specification, "Message
/// structure".
enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// One field of a message: `scalar` for numbers, `bytes` (a view into the file) for the rest.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t scalar = 0;
  std::string_view bytes;
  const char* at = nullptr;  ///< where it starts
};

/// The file that a message is part of: for places in messages, and a budget that keeps a small
/// hostile file from growing into much memory.
struct WireSource {
  std::string name;
  std::string_view bytes;
  int64_t messages_left = int64_t{1} << 22;

  /// Throws InputError "NAME: byte N: WHAT".
  [[noreturn]] void fail(const char* at, const std::string& what) const;
};

/// Reads the fields of one protobuf message in the order of the file. Groups, which are deprecated,
/// are skipped. Every length is checked against the message; nothing is copied.
class WireReader {
 public:
  WireReader(WireSource& source, std::string_view message);

  /// The next field, false at the end. Throws InputError where the bytes are not protobuf.
  bool next(WireField& field);
  WireSource& source() { return source_; }
  /// Throws InputError at the current place.
  [[noreturn]] void fail(const std::string& what) const { source_.fail(at_, what); }

 private:
  uint64_t read_varint();
  uint64_t read_fixed(size_t width);
  std::string_view read_bytes();
  void skip_group(uint32_t number);

  WireSource& source_;
  const char* at_;
  const char* end_;
};

/// Appends the elements of a repeated field that may come one by one or packed.
void append_varints(WireSource& source, const WireField& field, std::vector<int64_t>& values);
void append_floats(WireSource& source, const WireField& field, std::vector<float>& values);
void append_doubles(WireSource& source, const WireField& field, std::vector<double>& values);

}  // namespace wafer::importers
