#include "wafer/ir/rewrite.h"

#include <gtest/gtest.h>

#include "support/op_samples.h"
#include "wafer/base/error.h"
#include "wafer/ir/text.h"
#include "wafer/ir/verify.h"

namespace wafer::ir {
namespace {

TEST(Rewrite, of_nothing_is_a_copy) {
  const Graph graph = graph_of_samples();
  const Graph copy = rewrite(graph, [](Builder&, const Op&, const std::vector<ValueId>&,
                                       const std::vector<TensorType>&) { return std::nullopt; });
  EXPECT_TRUE(equal(copy, graph));
}

TEST(Rewrite, replaces_ops_and_keeps_their_marks) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  b.layer = "layer.1";
  const ValueId x = b.parameter("x", {DType::F32, {2}});
  b.output("y", b.unary(ElementFn::Negate, b.unary(ElementFn::Exp, x)));
  b.function().inputs[0].donated_output = 0;
  const Replace no_negate = [](Builder& to, const Op& op, const std::vector<ValueId>& operands,
                               const std::vector<TensorType>&) {
    std::optional<std::vector<ValueId>> values;
    if (op.attrs.get<ElementFn>(AttrKey::Fn) == ElementFn::Negate) {
      values = {to.subtract(to.scalar(0, DType::F32), operands[0])};
    }
    return values;
  };
  const Graph changed = rewrite(graph, no_negate);
  verify(changed);
  const Function& f = changed.entry();
  EXPECT_EQ(f.ops.back().attrs.get<ElementFn>(AttrKey::Fn), ElementFn::Subtract);
  EXPECT_EQ(f.ops.back().layer, "layer.1");
  EXPECT_EQ(f.inputs[0].role, Role::Parameter);
  EXPECT_EQ(f.inputs[0].donated_output, 0);
}

TEST(Rewrite, refuses_values_of_another_type) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  b.output("y", b.softmax(b.input("x", {DType::F32, {2}})));
  const Replace wrong = [](Builder& to, const Op&, const std::vector<ValueId>&,
                           const std::vector<TensorType>&) {
    return std::vector{to.scalar(0, DType::F32)};
  };
  EXPECT_THROW(rewrite(graph, wrong), InternalError);
}

}  // namespace
}  // namespace wafer::ir
