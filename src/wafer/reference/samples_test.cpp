#include <gtest/gtest.h>

#include <set>

#include "support/op_samples.h"
#include "wafer/base/error.h"
#include "wafer/ir/graph.h"
#include "wafer/reference/interpreter.h"

namespace wafer::reference {
namespace {

/// The sample as the one op of a graph, on zeros; every symbol is 2. Throws as evaluate does.
void compute(const OpSample& sample, ir::Graph graph) {
  graph.main = graph.add_function("main");
  ir::Builder b(graph, graph.main);
  emit_sample(b, sample);
  graph = ir::bind(graph, {{"batch", 2}, {"seq", 2}, {"past", 2}});
  std::vector<Tensor> inputs;
  const ir::Function& main = graph.entry();
  for (const ir::Input& input : main.inputs) inputs.push_back(zeros(main.type_of(input.value)));
  evaluate(graph, inputs);
}

// An op that is added is sampled (OpSamples.cover_every_kind_function_and_attribute), and so is
// missed here until the interpreter has it: what it does not know is an InternalError.
TEST(Samples, are_computed_but_for_what_no_single_device_can) {
  ir::Graph graph;
  const std::vector<OpSample> samples = op_samples(add_sample_functions(graph));
  std::set<std::string> refused;
  for (const OpSample& sample : samples) {
    SCOPED_TRACE(ir::name_of(sample.kind));
    try {
      compute(sample, graph);
    } catch (const InputError&) {
      refused.emplace(ir::name_of(sample.kind));
    } catch (const InternalError& e) {
      ADD_FAILURE() << e.what();
    }
  }
  // constant: the sample whose literal is elided; collectives over more than one replica.
  EXPECT_EQ(refused,
            (std::set<std::string>{"constant", "all_gather", "all_reduce", "all_to_all",
                                   "collective_permute", "custom_call", "reduce_scatter"}));
}

}  // namespace
}  // namespace wafer::reference
