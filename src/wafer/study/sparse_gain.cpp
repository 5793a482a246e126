#include "wafer/study/sparse_gain.h"

#include "wafer/estimate/streamed.h"
#include "wafer/study/workbench.h"

namespace wafer::study {
namespace {

constexpr double Least = 1.0 / 65536;  // a density as good as none

class Gains {
 public:
  Gains(const Question& question, const compile::StreamedCompiler& compiler,
        const machine::Wafer& machine)
      : request_(streamed_request(question)), compiler_(compiler), machine_(machine) {
    request_.sparsity_of.clear();
  }

  /// All layers at a density, in the question's pattern.
  estimate::Answer at(double density) {
    request_.sparsity.zeros = 1 - density;
    return estimate::streamed(compiler_.skeleton(machine_, request_), machine_);
  }

  /// The largest density at which a step is shorter than `dense`. A step gets no longer as the
  /// density falls, so it is found by halving.
  std::optional<double> break_even(Seconds dense) {
    const auto pays = [&](double density) {
      return at(density).step.value < dense.value * (1 - 1e-9);
    };
    if (!pays(Least)) return std::nullopt;
    double yes = Least, no = 1;
    for (int i = 0; i < 20; ++i) {
      const double middle = (yes + no) / 2;
      (pays(middle) ? yes : no) = middle;
    }
    return yes;
  }

 private:
  compile::StreamedRequest request_;
  const compile::StreamedCompiler& compiler_;
  const machine::Wafer& machine_;
};

}  // namespace

SparseGain sparse_gain(const Question& question, const compile::StreamedCompiler& compiler,
                       const machine::Wafer& machine, const estimate::Answer& answer) {
  Gains gains(question, compiler, machine);
  const estimate::Answer dense = gains.at(1);
  const double element = size_in_bytes(dtype_of(question.precision));
  SparseGain g{.dense_step = dense.step,
               .dense_energy = dense.energy_per_step,
               .speed_up = dense.step / answer.step,
               .energy_ratio = answer.energy_per_step / dense.energy_per_step,
               .weight_break_even = question.sparsity.break_even_density(element),
               .gradient_break_even = question.sparsity.break_even_density(compile::GradientBytes),
               .step_break_even = {},
               .most_speed_up = {}};
  if (!question.sparsity_of.empty()) return g;
  const estimate::Answer least = gains.at(Least);
  g.step_break_even = gains.break_even(dense.step);
  g.most_speed_up = dense.step / least.step;
  g.bound = least.bound;
  return g;
}

}  // namespace wafer::study
