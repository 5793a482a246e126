#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "wafer/base/units.h"
#include "wafer/ir/graph.h"
#include "wafer/plan/parallel.h"

namespace wafer::compile {

// What the layers of a forward graph do, in the terms of a GPU: products, attention, and passes
// over memory. Counts are of one run of the graph (Profile::unit samples); all that holds
// activations grows with the samples.

/// How tensor-parallel ranks share a product: by columns of the matrix, which leaves its result
/// split, or by rows, which reads a split operand and leaves sums to be added over the ranks.
enum class Split : uint8_t { None, Columns, Rows };

/// Products of one left operand with one or more matrices, run as one; m grows with the samples.
struct ProductStep {
  std::string name;
  plan::Product shape;          ///< n: of all matrices together
  bool weight = true;           ///< the right operand is a parameter; else an activation
  bool bias = false;            ///< and a bias is added
  bool convolution = false;     ///< m are places of a window, k what it covers
  Split split = Split::None;    ///< of a weight's product
  bool shared = false;          ///< of two activations: ranks have their part of the batch
  std::vector<double> columns;  ///< of each matrix
  std::vector<double> grains;   ///< columns of it that stay together: a head
};

/// softmax(q k^T) v: `batch_heads` of [queries, depth] x [depth, keys].
struct AttentionStep {
  std::string name;
  double batch_heads = 0, batch_kv_heads = 0;
  double queries = 0, keys = 0;
  double depth = 0, value_depth = 0;
  bool causal = false;
  bool shared = false;  ///< ranks have their part of the heads
  double scores() const { return batch_heads * queries * keys; }
  Flops flops() const { return Flops(2 * scores() * (depth + value_depth)); }
};

/// A pass over memory: element-wise ops that run as one, a norm, a look-up, the loss.
struct PassStep {
  enum class Kind : uint8_t { Linear, Nonlinear, Norm, Softmax, Lookup, Loss };
  std::string name;
  Kind kind = Kind::Linear;
  double elements = 0;  ///< of its result; of the loss, of the logits
  double read = 0;      ///< elements of its operands
  int operands = 1;
  bool shared = false;  ///< ranks have their part
};

using Step = std::variant<ProductStep, AttentionStep, PassStep>;

/// Elements kept for the backward pass: whole on each tensor rank, or split over them.
struct KeptElements {
  double whole = 0, shared = 0;
};

/// A layer (with how often it runs), or what lies before or after the layers.
struct LayerProfile {
  std::string name;
  plan::Stage stage = plan::Stage::Every;
  double times = 1;
  bool repeated = false;
  std::vector<Step> steps;
  KeptElements kept;
  double passed_on = 0;   ///< elements of its result
  double parameters = 0;  ///< of one layer
  Flops products() const;
  Flops attention() const;
};

struct Profile {
  std::vector<LayerProfile> layers;
  double parameters = 0;
  int64_t unit = 1;         ///< samples that the counts are of
  bool fixed = false;       ///< the graph takes no other number of samples
  int64_t tokens = 1;       ///< of a sample
  int64_t heads = 0;        ///< the fewest of any attention; 0: no attention
  bool generates = false;   ///< attention is causal: tokens can be made one by one
  double repeated() const;  ///< layers
};

/// Throws InputError for a graph with unbound dimensions other than its batch, and for one without
/// parameters.
Profile profile(const ir::Graph& forward, int64_t tokens_per_sample);

}  // namespace wafer::compile
