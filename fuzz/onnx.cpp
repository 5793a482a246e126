#include "wafer/importers/onnx.h"

#include "fuzz.h"
#include "wafer/ir/verify.h"

/// An ONNX file that is accepted is a graph that keeps its rules.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz_reader(data, size, [](std::string_view bytes) {
    const wafer::ir::Graph graph =
        wafer::importers::import_onnx_bytes(bytes, "model.onnx", {.batch = 2, .seq = 3});
    wafer::ir::verify(graph);
  });
}
