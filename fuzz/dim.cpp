#include "fuzz.h"
#include "wafer/base/shape.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz_reader(data, size, [](std::string_view text) {
    const std::optional<wafer::Dim> dim = wafer::Dim::parse(text);
    if (dim) WAFER_CHECK(wafer::Dim::parse(dim->text()) == dim);
  });
}
