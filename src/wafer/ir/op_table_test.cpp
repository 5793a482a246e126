#include "wafer/ir/op_table.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "support/op_samples.h"
#include "wafer/base/error.h"
#include "wafer/ir/infer.h"

namespace wafer::ir {
namespace {

std::vector<TensorType> types(const std::vector<std::string>& texts) {
  std::vector<TensorType> result;
  for (const std::string& text : texts) result.push_back(TensorType::parse(text).value());
  return result;
}

TEST(OpSamples, cover_every_kind_function_and_attribute) {
  Graph graph;
  std::vector<bool> kinds(OpKindCount, false);
  std::vector<bool> fns(ElementFnCount, false);
  std::vector<bool> keys(AttrKeyCount, false);
  for (const OpSample& sample : op_samples(add_sample_functions(graph))) {
    kinds[static_cast<size_t>(sample.kind)] = true;
    for (const auto& [key, value] : sample.attrs) {
      keys[static_cast<size_t>(key)] = true;
      if (const auto* fn = std::get_if<ElementFn>(&value)) fns[static_cast<size_t>(*fn)] = true;
    }
  }
  EXPECT_EQ(kinds, std::vector<bool>(OpKindCount, true));
  EXPECT_EQ(fns, std::vector<bool>(ElementFnCount, true));
  EXPECT_EQ(keys, std::vector<bool>(AttrKeyCount, true));
}

TEST(OpSamples, have_the_types_that_they_say) {
  Graph graph;
  for (const OpSample& sample : op_samples(add_sample_functions(graph))) {
    SCOPED_TRACE(name_of(sample.kind));
    EXPECT_EQ(infer_types(graph, sample.kind, types(sample.operands), sample.attrs,
                          types(sample.results)),
              types(sample.results));
  }
}

/// The problem that the table finds; empty when there is none.
std::string problem(OpKind kind, size_t operands, const Attributes& attrs) {
  const auto problems = row_problems(Graph{}, kind, operands, attrs);
  return problems.empty() ? "" : problems.front();
}

TEST(OpTable, counts_operands) {  // OP1
  EXPECT_EQ(problem(OpKind::Softmax, 1, {}), "");
  EXPECT_EQ(problem(OpKind::Softmax, 2, {}), "softmax takes 1 operands, not 2 [OP1]");
  EXPECT_TRUE(contains(problem(OpKind::Attention, 5, {{AttrKey::Scale, 1.0}}),
                       "attention takes 3 to 4 operands, not 5 [OP1]"));
  EXPECT_TRUE(contains(problem(OpKind::Concatenate, 0, {{AttrKey::Dim, int64_t{0}}}),
                       "at least 1 operands, not 0 [OP1]"));
}

TEST(OpTable, wants_attributes_that_are_required) {  // OP2
  EXPECT_EQ(problem(OpKind::Iota, 0, {}), "iota needs the attribute dim (integer) [OP2]");
}

TEST(OpTable, refuses_attributes_that_are_not_taken) {  // OP3
  EXPECT_EQ(problem(OpKind::Softmax, 1, {{AttrKey::Dim, int64_t{0}}}),
            "softmax takes no attribute dim [OP3]");
}

TEST(OpTable, refuses_values_of_another_type) {  // OP4
  EXPECT_EQ(problem(OpKind::Iota, 0, {{AttrKey::Dim, 0.5}}),
            "attribute dim is a integer, not a float [OP4]");
}

TEST(OpTable, refuses_functions_that_there_are_not) {  // OP5
  EXPECT_TRUE(contains(problem(OpKind::Call, 0, {{AttrKey::Body, FunctionId(3)}}), "[OP5]"));
}

TEST(OpTable, refuses_a_literal_that_is_none) {  // OP6
  EXPECT_TRUE(contains(problem(OpKind::Constant, 0, {{AttrKey::Value, LiteralRef()}}), "[OP6]"));
}

TEST(OpTable, is_asked_by_infer_types) {
  EXPECT_THROW(infer_types(Graph{}, OpKind::Softmax, {}, {}), InputError);
}

}  // namespace
}  // namespace wafer::ir
