#include "wafer/study/catalog.h"

#include "wafer/models/models.h"

namespace wafer::study {

std::vector<KnownModel> known_models() {
  std::vector<KnownModel> known;
  for (const models::CatalogEntry& entry : models::catalog()) {
    KnownModel model{
        .name = entry.spec.name,
        .source = entry.source,
        .parameters = models::parameter_count(models::build(entry.spec, {.train = false})),
        .seq_len = models::sequence_length(entry.spec)};
    if (const auto* t = std::get_if<models::TransformerSpec>(&entry.spec.network)) {
      model.sizes = {
          .layers = t->layers, .hidden = t->hidden, .heads = t->heads, .vocab = t->vocab};
    }
    known.push_back(std::move(model));
  }
  return known;
}

}  // namespace wafer::study
