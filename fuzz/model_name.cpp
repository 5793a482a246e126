#include "fuzz.h"
#include "wafer/models/models.h"

namespace models = wafer::models;

/// A name or free form that is accepted describes a network that can be built.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz_reader(data, size, [](std::string_view text) {
    models::ModelSpec spec = models::parse(text);
    auto* network = std::get_if<models::TransformerSpec>(&spec.network);
    if (network != nullptr && network->layers > 4) network->layers = 4;  // more of the same
    WAFER_CHECK(models::parameter_count(models::build(spec)) > 0);
  });
}
