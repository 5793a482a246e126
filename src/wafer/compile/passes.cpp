#include "wafer/compile/passes.h"

#include <fmt/format.h>

namespace wafer::compile {
namespace {

void print_streams(std::string& text, const ir::Function& main, std::string_view what,
                   const std::vector<Stream>& streams) {
  for (const Stream& stream : streams) {
    const ir::Input& input = main.inputs[stream.inputs[0]];
    text += fmt::format("  {} {} : {} x{}\n", what, input.name, main.type_of(input.value).text(),
                        stream.inputs.size());
  }
}

void print_kept(std::string& text, std::string_view what, const std::vector<Kept>& kept) {
  for (const Kept& k : kept) {
    text += fmt::format("  {} {} : {} x{}\n", what, k.name, k.type.text(), k.instances);
  }
}

std::string heading(const SectionWork& work) {
  return fmt::format("{} {} x{} passes {}\n", work.section.name, ir::name_of(work.section.phase),
                     work.section.layers(), work.passes);
}

}  // namespace

std::string print_layers(const ir::Graph& graph, const StepAnalysis& analysis) {
  std::string text;
  for (const SectionWork& work : analysis.sections) {
    text += heading(work);
    print_streams(text, graph.entry(), "weight", work.traffic.weights);
    print_streams(text, graph.entry(), "gradient of", work.traffic.gradients);
    print_kept(text, "saved", work.saved);
    print_kept(text, "entering", work.entering);
  }
  return text + fmt::format("widest kernel: {} bytes a sample\n", analysis.widest_kernel.value);
}

std::string print_kernels(const StepAnalysis& analysis) {
  std::string text;
  for (const SectionWork& work : analysis.sections) {
    text += heading(work);
    for (const plan::Kernel& k : work.kernels) {
      text += fmt::format(
          "  {} [{}] {} ops: weight product {} local product {} elementwise {} scores {}\n", k.name,
          k.implementation, k.op_count, k.work.weight_product.value, k.work.local_product.value,
          k.work.elementwise.value, k.work.scores);
    }
  }
  return text;
}

}  // namespace wafer::compile
