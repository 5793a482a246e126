#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wafer::study {

/// A built-in network, as a list of them tells it.
struct KnownModel {
  std::string name;
  std::string source;      ///< of its shape
  int64_t parameters = 0;  ///< of the forward graph
  int64_t seq_len = 0;     ///< tokens of a sample
  /// Where sizes are not of one kind, as in a ResNet, there are none.
  struct Sizes {
    int64_t layers = 0, hidden = 0, heads = 0, vocab = 0;
  };
  std::optional<Sizes> sizes{};
};

/// Every built-in network, in the order of docs/models.md. Builds each once to count it.
std::vector<KnownModel> known_models();

}  // namespace wafer::study
