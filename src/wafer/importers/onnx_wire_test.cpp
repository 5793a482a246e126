#include "wafer/importers/onnx_wire.h"

#include <gtest/gtest.h>

#include "support/onnx_model.h"
#include "wafer/base/error.h"
#include "wafer/importers/onnx_model.h"

namespace wafer::importers {
namespace {

using namespace std::string_literals;

std::string error_of(const std::string& bytes) {
  WireSource source{.name = "m.onnx", .bytes = bytes};
  try {
    WireReader reader(source, bytes);
    WireField field;
    while (reader.next(field)) {
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Field 1 as a varint is key 0x08, 150 is 0x96 0x01: the example of the encoding specification.
TEST(OnnxWire, reads_a_number_of_two_bytes) {
  const std::string bytes = "\x08\x96\x01"s;
  WireSource source{.name = "m", .bytes = bytes};
  WireReader reader(source, bytes);
  WireField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.number, 1u);
  EXPECT_EQ(field.scalar, 150u);
  EXPECT_FALSE(reader.next(field));
}

TEST(OnnxWire, reads_minus_one_as_ten_bytes) {
  const std::string bytes = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s;
  WireSource source{.name = "m", .bytes = bytes};
  WireReader reader(source, bytes);
  WireField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(static_cast<int64_t>(field.scalar), -1);
}

TEST(OnnxWire, skips_groups_and_what_is_in_them) {
  // group 2 { group 3 { 1: 5 } "ab" as field 4 } then field 1 = 7
  const std::string bytes = "\x13\x1b\x08\x05\x1c\x22\x02"s + "ab" + "\x14\x08\x07"s;
  WireSource source{.name = "m", .bytes = bytes};
  WireReader reader(source, bytes);
  WireField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.number, 1u);
  EXPECT_EQ(field.scalar, 7u);
}

TEST(OnnxWire, takes_numbers_packed_and_one_by_one) {
  WireSource source{.name = "m", .bytes = {}};
  std::vector<int64_t> values;
  append_varints(source, {.number = 1, .scalar = 3, .bytes = {}}, values);
  append_varints(source, {.number = 1, .type = WireType::Bytes, .bytes = "\x04\x96\x01"}, values);
  EXPECT_EQ(values, (std::vector<int64_t>{3, 4, 150}));
}

TEST(OnnxWire, names_the_byte_where_a_length_passes_its_message) {
  EXPECT_EQ(error_of("\x08\x01\x12\x05"s + "ab"),
            "m.onnx: byte 4: not a readable ONNX file: a part of 5 bytes where 2 are left");
}

TEST(OnnxWire, refuses_what_is_not_protobuf) {
  EXPECT_NE(error_of("\x08"s), "");                                          // ends within a number
  EXPECT_NE(error_of("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s), "");  // too long
  EXPECT_NE(error_of("\x0e"s), "");                                          // wire type 6
  EXPECT_NE(error_of("\x00\x00"s), "");                                      // field 0
  EXPECT_NE(error_of("\x0d\x01\x02"s), "");                                  // 4 bytes, 2 there
  EXPECT_NE(error_of("\x13\x1c"s), "");                                      // ends another group
  EXPECT_NE(error_of(std::string(100, '\x13')), "");                         // groups without end
}

TEST(OnnxWire, a_budget_bounds_what_a_file_makes) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += "\x0a\x00"s;  // empty nodes of a graph
  WireWriter model;
  model.put(7, std::string_view(bytes));
  WireSource source{.name = "m", .bytes = model.bytes(), .messages_left = 50};
  EXPECT_THROW(parse_onnx_model(source), InputError);
  WireSource enough{.name = "m", .bytes = model.bytes(), .messages_left = 200};
  EXPECT_EQ(parse_onnx_model(enough).graph.nodes.size(), 100u);
}

TEST(OnnxWire, joins_messages_that_come_in_parts_and_takes_the_last_number) {
  WireWriter first, second, model;
  first.put(2, std::string_view("first"));
  first.put(1, std::string_view(TestModel::node_bytes("Relu", {"x"}, {"y"})));
  second.put(2, std::string_view("second"));
  second.put(1, std::string_view(TestModel::node_bytes("Abs", {"y"}, {"z"})));
  model.put(7, std::string_view(first.bytes()));
  model.put(1, int64_t{3});
  model.put(999, std::string_view("unknown"));
  model.put(7, std::string_view(second.bytes()));
  model.put(1, int64_t{8});
  WireSource source{.name = "m", .bytes = model.bytes()};
  const OnnxModel parsed = parse_onnx_model(source);
  EXPECT_EQ(parsed.ir_version, 8);
  EXPECT_EQ(parsed.graph.name, "second");
  ASSERT_EQ(parsed.graph.nodes.size(), 2u);
  EXPECT_EQ(parsed.graph.nodes[1].op_type, "Abs");
}

TEST(OnnxWire, refuses_graphs_within_graphs_without_end) {
  TestModel inner;
  for (int depth = 0; depth < 40; ++depth) {
    TestModel outer;
    outer.node("If", {"c"}, {"y"}, {}, "", {TestModel::graph_attribute("then_branch", inner)});
    inner = outer;
  }
  const std::string bytes = inner.bytes();
  WireSource source{.name = "m", .bytes = bytes};
  EXPECT_THROW(parse_onnx_model(source), InputError);
}

}  // namespace
}  // namespace wafer::importers
