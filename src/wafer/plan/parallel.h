#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/base/id.h"
#include "wafer/base/units.h"

namespace wafer::plan {

using KernelId = Id<struct KernelTag>;

/// `batch` products of [m, k] x [k, n].
struct Product {
  double m = 0, n = 0, k = 0, batch = 1;
  Flops flops() const { return Flops(2 * batch * m * n * k); }
};

/// What data-parallel replicas divide among themselves instead of holding it each.
enum class Sharding : uint8_t { None, Optimizer, Gradients, Full };

/// How a network is spread over a cluster of GPUs: tensor x pipeline x data of them.
struct Parallelism {
  int64_t tensor = 1;        ///< GPUs that share the matrices of a layer
  int64_t pipeline = 1;      ///< stages that layers are dealt to
  int64_t data = 1;          ///< replicas that work on parts of the batch
  int64_t interleaving = 1;  ///< runs of layers that a stage holds
  bool sequence = false;     ///< tensor ranks share what lies between the matrices, by tokens
  Sharding sharding = Sharding::None;
  bool fused = true;  ///< attention keeps no scores, and there is no dropout (software since 2022)
};

/// Of a pipeline, the stage that a layer runs on.
enum class Stage : uint8_t { Every, First, Last };

/// GPUs exchange one tensor of `bytes` (of the whole, where each holds a part).
struct Collective {
  enum class Kind : uint8_t { AllReduce, ReduceScatter, AllGather, SendReceive };
  Kind kind = Kind::AllReduce;
  std::string what;  ///< "gradients"; outside layers also one of the two below
  Bytes bytes;
  int64_t group = 1;             ///< GPUs that take part
  int64_t in_node = 1;           ///< of these, those of one node
  double times = 1;              ///< in a row
  std::vector<KernelId> beside;  ///< launches that run at the same time
};

/// What passes between pipeline stages, and between replicas that hold a part of the weights.
inline constexpr const char* BetweenStages = "between stages";
inline constexpr const char* OfShards = "of shards";

std::string_view name_of(Sharding sharding);
std::string_view name_of(Stage stage);
std::string_view name_of(Collective::Kind kind);

}  // namespace wafer::plan
