#include <fmt/format.h>

#include <algorithm>

#include "wafer/base/error.h"
#include "wafer/base/nearest.h"
#include "wafer/study/fit_kind.h"

namespace wafer::study {
namespace {

using machine::Machine;

machine::Fitted& wafer(Machine& m) { return std::get<machine::Wafer>(m).fitted; }
machine::Resident& resident(Machine& m) { return std::get<machine::Wafer>(m).resident; }
machine::GpuFitted& gpu(Machine& m) { return std::get<machine::GpuCluster>(m).fitted; }

// One set of constants for all of them: rows of one are too few to tell it from another.
const std::vector<std::string> Gpus = {"a100-80gb", "a100-40gb", "h100",      "h200",
                                       "b200",      "v100-32gb", "v100-dgx2h"};

FitKind streamed_training() {
  return {.name = "streamed-training",
          .title = "training on a wafer with streamed weights",
          .mode = Mode::Streamed,
          .phase = Phase::Train,
          .machines = {"wse2"},
          .constants =
              {
                  {"fitted.product_efficiency", 0.05, 0.7, 1,
                   [](Machine& m) -> double& { return wafer(m).product_efficiency.value; }},
                  {"fitted.pass_seconds", 1e-5, 1e-3, 1e-1,
                   [](Machine& m) -> double& { return wafer(m).pass_time.value.value; }},
                  {"fitted.score_cycles", 1, 100, 1e4,
                   [](Machine& m) -> double& { return wafer(m).score_cycles.value.value; }},
                  {"fitted.step_seconds", 1e-4, 1e-2, 1,
                   [](Machine& m) -> double& { return wafer(m).step_time.value.value; }},
              },
          .by_group = true};
}

FitKind cluster_training() {
  return {.name = "cluster-training",
          .title = "training on GPUs",
          .mode = Mode::Cluster,
          .phase = Phase::Train,
          .machines = Gpus,
          .constants =
              {
                  {"fitted.product_efficiency", 0.5, 0.8, 1,
                   [](Machine& m) -> double& { return gpu(m).product_efficiency.value; }},
                  {"fitted.wave_seconds", 1e-7, 1e-5, 1e-4,
                   [](Machine& m) -> double& { return gpu(m).wave_time.value.value; }},
                  {"fitted.attention_efficiency", 0.1, 0.4, 1,
                   [](Machine& m) -> double& { return gpu(m).attention_efficiency.value; }},
                  {"fitted.nic_share", 0.1, 0.5, 1,
                   [](Machine& m) -> double& { return gpu(m).nic_share.value; }},
                  {"fitted.nic_step_seconds", 5e-7, 5e-6, 5e-5,
                   [](Machine& m) -> double& { return gpu(m).nic_step.value.value; }},
              },
          .tolerance = 0.02};
}

FitKind cluster_inference() {
  return {.name = "cluster-inference",
          .title = "inference on GPUs",
          .mode = Mode::Cluster,
          .phase = Phase::Infer,
          .machines = Gpus,
          .constants = {{"fitted.serving_nic_share", 0.1, 0.5, 1.5,
                         [](Machine& m) -> double& { return gpu(m).serving_nic_share.value; }}},
          .tolerance = 0.02,
          .halved = true};
}

FitKind resident_inference() {
  return {.name = "resident-inference",
          .title = "inference on a wafer with resident weights",
          .mode = Mode::Resident,
          .phase = Phase::Infer,
          .machines = {"wse2"},
          .constants =
              {
                  {"resident.vector_start_cycles", 1, 4, 20,
                   [](Machine& m) -> double& { return resident(m).vector_start.value.value; }},
                  {"resident.shift_step_cycles", 10, 300, 2000,
                   [](Machine& m) -> double& { return resident(m).shift_step.value.value; }},
                  {"resident.reduction_cycles", 10, 150, 2000,
                   [](Machine& m) -> double& { return resident(m).reduction.value.value; }},
                  {"resident.reduction_hop_cycles", 0.1, 1.5, 10,
                   [](Machine& m) -> double& { return resident(m).reduction_hop.value.value; }},
              },
          .tolerance = 0.02,
          .halved = true};
}

}  // namespace

bool FitKind::has(const Measurement& m) const {
  return m.mode == written(mode) && m.phase == name_of(phase) &&
         std::find(machines.begin(), machines.end(), m.machine) != machines.end();
}

bool FitKind::suits(const Machine& machine) const {
  return std::holds_alternative<machine::GpuCluster>(machine) == (mode == Mode::Cluster);
}

const std::vector<FitKind>& fit_kinds() {
  static const std::vector<FitKind> kinds = {streamed_training(), resident_inference(),
                                             cluster_training(), cluster_inference()};
  return kinds;
}

const FitKind& fit_kind_named(const std::string& name) {
  std::vector<std::string> names;
  for (const FitKind& kind : fit_kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  const std::string meant = nearest(name, names);
  throw InputError(fmt::format("no kind of rows \"{}\"{}; there are {}", name,
                               meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
                               fmt::join(names, ", ")));
}

const FitKind* fit_kind_of(const Measurement& m) {
  for (const FitKind& kind : fit_kinds()) {
    if (kind.has(m)) return &kind;
  }
  return nullptr;
}

std::string_view written(Mode mode) {
  return mode == Mode::Cluster ? std::string_view() : name_of(mode);
}

}  // namespace wafer::study
