#include "wafer/study/workbench.h"

namespace wafer::study {

NetworkRequest network_request(const Question& q) {
  // The batch decides only where a file fixes what depends on it; a built-in network is the same
  // for all.
  return {.model = q.model,
          .seq = q.seq,
          .dtype = dtype_of(q.precision),
          .train = q.phase == Phase::Train,
          .batch = q.model.ends_with(".onnx") ? q.batch : 1,
          .dims = q.dims};
}

compile::StreamedRequest streamed_request(const Question& q) {
  return {.systems = q.systems,
          .batch = q.batch,
          .micro_batch = q.micro_batch,
          .recompute = q.recompute,
          .density = 1 - q.sparsity};
}

}  // namespace wafer::study
