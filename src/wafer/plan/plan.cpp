#include "wafer/plan/plan.h"

#include <algorithm>
#include <array>

#include "wafer/base/error.h"

namespace wafer::plan {
namespace {

template <typename Enum, size_t N>
std::string_view pick(const std::array<std::string_view, N>& names, Enum value) {
  const auto i = static_cast<size_t>(value);
  WAFER_CHECK(i < N);
  return names[i];
}

}  // namespace

Work& Work::operator+=(const Work& o) {
  weight_product += o.weight_product;
  local_product += o.local_product;
  elementwise += o.elementwise;
  scores += o.scores;
  read += o.read;
  written += o.written;
  return *this;
}

Work operator*(const Work& w, double times) {
  return {w.weight_product * times, w.local_product * times, w.elementwise * times,
          w.scores * times,         w.read * times,          w.written * times};
}

int64_t ResidentPlacement::regions() const { return std::min(layers, regions_of_wafer * wafers); }

std::string_view name_of(Target target) {
  return pick(std::array<std::string_view, 4>{"wafer_streamed", "wafer_pipelined", "wafer_resident",
                                              "cluster"},
              target);
}

std::string_view name_of(Place place) {
  return pick(std::array<std::string_view, 4>{"wafer", "store", "activation_store", "gpu"}, place);
}

std::string_view name_of(BufferKind kind) {
  return pick(std::array<std::string_view, 7>{"parameter", "gradient", "optimizer_state", "data",
                                              "activation", "workspace", "cache"},
              kind);
}

std::string_view name_of(Move::Kind kind) {
  return pick(std::array<std::string_view, 5>{"weight_in", "gradient_out", "data_in",
                                              "activation_out", "activation_in"},
              kind);
}

std::string_view name_of(Recompute recompute) {
  return pick(std::array<std::string_view, 3>{"none", "selective", "full"}, recompute);
}

std::string_view name_of(Repeat::Over over) {
  return pick(std::array<std::string_view, 2>{"micro_batches", "layers"}, over);
}

std::string_view name_of(Sharding sharding) {
  return pick(std::array<std::string_view, 4>{"none", "optimizer", "gradients", "full"}, sharding);
}

std::string_view name_of(Stage stage) {
  return pick(std::array<std::string_view, 3>{"every", "first", "last"}, stage);
}

std::string_view name_of(Collective::Kind kind) {
  return pick(
      std::array<std::string_view, 4>{"all_reduce", "reduce_scatter", "all_gather", "send_receive"},
      kind);
}

}  // namespace wafer::plan
