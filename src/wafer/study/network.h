#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wafer/base/dtype.h"
#include "wafer/base/shape.h"
#include "wafer/ir/graph.h"

namespace wafer::study {

/// Which network, and what of it.
struct NetworkRequest {
  std::string model{};  ///< a built-in name or free form, or a path: .onnx, config.json, its folder
  std::optional<int64_t> seq{};  ///< tokens of a sample; the model's own where absent
  DType dtype = DType::F16;      ///< of weights and activations
  bool train = true;             ///< with the loss; else the outputs of inference
  int64_t batch = 1;             ///< for a file that fixes what depends on it
  DimBindings dims{};            ///< symbolic dimensions of an ONNX file
  auto operator<=>(const NetworkRequest&) const = default;
};

/// A forward graph, whatever door it came through.
struct Network {
  std::string name;  ///< the model as asked for; of a file its last part
  ir::Graph graph;   ///< batch symbolic (where the file permits), the rest static
  int64_t tokens_per_sample = 1;
  bool typed_by_file = false;  ///< element types are those of its file, whatever was asked for
};

/// The graph as it is compiled: in the precision asked for, identical layers as calls.
ir::Graph prepared(const Network& network, DType precision);

/// Opens a model. Throws InputError: no such name (with the nearest) or file, and what its door
/// finds wrong.
Network open_network(const NetworkRequest& request);

/// Parameters of the model without its head, where it is an encoder that is counted so (BERT).
std::optional<int64_t> encoder_parameters(const std::string& model);

/// A decoder of the GPT family that predicts the next token. Throws as open_network() does.
bool is_gpt(const std::string& model);

/// What can be said of a network without a machine.
struct NetworkFacts {
  int64_t parameters = 0;
  std::optional<int64_t> encoder_parameters;
  int64_t batch = 1;  ///< that work and traffic are of
  double flops = 0;   ///< all arithmetic of one run
  double product_flops = 0;
  double bytes = 0;  ///< each operand read once, each result written once
  int64_t ops = 0;   ///< in all functions, each written once
  struct Kind {
    std::string name;
    int64_t ops = 0;   ///< as written
    double runs = 0;   ///< in one run of the network
    double flops = 0;  ///< of all runs
  };
  std::vector<Kind> kinds;  ///< of ops, by FLOPs and then by name
};
NetworkFacts facts_of(const Network& network, int64_t batch);

}  // namespace wafer::study
