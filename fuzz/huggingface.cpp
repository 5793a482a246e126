#include "wafer/importers/huggingface.h"
#include "fuzz.h"
#include "wafer/models/models.h"

namespace models = wafer::models;

/// A config.json that is accepted describes a network that can be built.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz_reader(data, size, [](std::string_view text) {
    models::ModelSpec spec = wafer::importers::parse_huggingface(text, "config.json");
    auto& network = std::get<models::TransformerSpec>(spec.network);
    if (network.layers > 4) network.layers = 4;  // more of the same
    WAFER_CHECK(models::parameter_count(models::build(spec, {.train = false})) > 0);
  });
}
