#include "wafer/plan/pipelined.h"

#include <fmt/format.h>

#include <array>

namespace wafer::plan {
namespace {

std::string place_of(const Rectangle& r) {
  return fmt::format("{} x {} at {}, {}", r.width, r.height, r.x, r.y);
}

}  // namespace

int64_t Pipeline::fifo_pes() const {
  int64_t sum = 0;
  for (const PipelineKernel& k : kernels) sum += k.kind == PipelineKernel::Kind::Fifo ? k.pes : 0;
  return sum;
}

int64_t Pipeline::kernel_pes() const {
  int64_t sum = -fifo_pes();
  for (const PipelineKernel& k : kernels) sum += k.pes;
  return sum;
}

std::string_view name_of(PipelineKernel::Kind kind) {
  constexpr std::array<std::string_view, 8> Names = {"product", "attention", "nonlinear", "norm",
                                                     "sum",     "loss",      "table",     "fifo"};
  return Names[static_cast<size_t>(kind)];
}

std::vector<std::string> problems_of(const Pipeline& p) {
  std::vector<std::string> problems;
  const auto note = [&](std::string text) { problems.push_back(std::move(text)); };
  if (!(p.period.value > 0) || p.period < p.shortest_period) note("the period is too short");
  if (p.kernels.empty()) note("no kernels");
  if (p.kernel_pes() > p.region) {
    note(fmt::format("kernels take {} PEs of {}", p.kernel_pes(), p.region));
  }
  for (size_t i = 0; i < p.kernels.size(); ++i) {
    const PipelineKernel& k = p.kernels[i];
    const Rectangle& r = k.at;
    if (k.pes < 1 || r.area() < k.pes) {
      note(fmt::format("{} needs {} PEs, lies on {}", k.name, k.pes, place_of(r)));
    }
    if (r.x < 0 || r.y < 0 || r.right() > p.width || r.bottom() > p.height) {
      note(fmt::format("{} sticks out: {}", k.name, place_of(r)));
    }
    for (size_t j = 0; j < i; ++j) {
      if (r.overlaps(p.kernels[j].at))
        note(fmt::format("{} overlaps {}", k.name, p.kernels[j].name));
    }
  }
  return problems;
}

}  // namespace wafer::plan
