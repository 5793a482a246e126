#include "wafer/compile/precision.h"

#include <gtest/gtest.h>

#include "wafer/ir/builder.h"
#include "wafer/ir/verify.h"

namespace wafer::compile {
namespace {

using ir::Builder;
using ir::ValueId;

TEST(Precision, floats_of_16_and_32_bits_change_all_else_stays) {
  ir::Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId ids = b.input("ids", {DType::I32, {Dim(3)}});
  const ValueId table = b.parameter("table", {DType::F32, {Dim(5), Dim(4)}});
  const ValueId rows = b.multiply(b.take_rows(table, ids), 1.0 / 3);
  const ValueId wide = b.input("wide", {DType::F64, {Dim(2)}});
  b.output("y", b.convert(rows, DType::Bf16));
  b.output("wide", b.add(wide, wide));
  const ir::Graph half = in_precision(graph, DType::F16);
  ir::verify(half);
  EXPECT_EQ(half.entry().type_of(table).text(), "f16[5,4]");
  EXPECT_EQ(half.entry().type_of(half.entry().outputs[0].value).text(), "f16[3,4]");
  EXPECT_EQ(half.entry().type_of(wide).dtype, DType::F64);
  EXPECT_EQ(half.entry().type_of(ids).dtype, DType::I32);
  for (const ir::Op& op : half.entry().ops) {
    if (op.kind != ir::OpKind::Constant) continue;
    // 1/3 in f16 is 0x3555 = 1365/4096.
    EXPECT_EQ(op.attrs.get<ir::LiteralRef>(ir::AttrKey::Value)->floats[0], 1365.0 / 4096);
  }
}

}  // namespace
}  // namespace wafer::compile
