#include <benchmark/benchmark.h>

#include <cstdint>

#include "wafer/base/dtype.h"

namespace wafer {
namespace {

// Every value that the reference interpreter computes in a small type passes through this.
void round_each(benchmark::State& state, DType type) {
  double x = 0.1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(round_to(type, x));
    x = x < 1e4 ? x * 1.01 : 0.1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(round_each, f16, DType::F16);
BENCHMARK_CAPTURE(round_each, bf16, DType::Bf16);
BENCHMARK_CAPTURE(round_each, cb16, DType::Cb16);
BENCHMARK_CAPTURE(round_each, f32, DType::F32);

void decode_each(benchmark::State& state, DType type) {
  uint16_t bits = 0;
  for (auto _ : state) benchmark::DoNotOptimize(decode_small_float(type, bits++));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(decode_each, f16, DType::F16);
BENCHMARK_CAPTURE(decode_each, cb16, DType::Cb16);

}  // namespace
}  // namespace wafer
