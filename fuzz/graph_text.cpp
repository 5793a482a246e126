#include "fuzz.h"
#include "wafer/ir/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz_reader(data, size, [](std::string_view text) {
    const wafer::ir::Graph graph = wafer::ir::parse_text(text);
    WAFER_CHECK(wafer::ir::equal(wafer::ir::parse_text(wafer::ir::print_text(graph)), graph));
  });
}
