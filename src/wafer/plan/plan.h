#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wafer/base/id.h"
#include "wafer/base/units.h"
#include "wafer/ir/graph.h"
#include "wafer/plan/parallel.h"
#include "wafer/plan/pipelined.h"
#include "wafer/plan/resident.h"
#include "wafer/plan/sparsity.h"

namespace wafer::plan {

using BufferId = Id<struct BufferTag>;

/// What a plan is made for.
enum class Target : uint8_t { WaferStreamed, WaferPipelined, WaferResident, Cluster };

/// Where a buffer lives or a launch runs.
enum class Place : uint8_t {
  Wafer,            ///< SRAM of the PEs
  Store,            ///< the weight store outside: parameters, optimizer state, updates
  ActivationStore,  ///< the servers that feed the wafer: samples in, activations that spill
  Gpu,              ///< memory of one GPU
};

enum class BufferKind : uint8_t {
  Parameter,
  Gradient,
  OptimizerState,
  Data,        ///< samples and labels
  Activation,  ///< kept from forward to backward
  Workspace,   ///< live inside one layer only
  Cache,       ///< keys and values of tokens that were read
};

/// Which network arithmetic a kernel does; each class has its own rate on a wafer.
struct Work {
  Flops weight_product;  ///< products with a weight or that make a weight's gradient
  Flops local_product;   ///< products of two activations (attention)
  Flops elementwise;     ///< all other arithmetic
  double scores = 0;     ///< elements of softmax inputs: attention scores
  Bytes read;            ///< operands, each once
  Bytes written;         ///< results, each once

  Flops total() const { return weight_product + local_product + elementwise; }
  Work& operator+=(const Work& o);
  friend Work operator*(const Work& w, double times);
};

/// A piece of a function that runs as one: one heavy op and the light ones that follow it.
struct Kernel {
  std::string name;            ///< "attention/query"
  std::string implementation;  ///< "weight_stream_gemm", "attention", "elementwise", ...
  ir::Phase phase = ir::Phase::Forward;
  ir::FunctionId function;  ///< of Plan::graph
  uint32_t first_op = 0;    ///< its ops there: [first_op, first_op + op_count)
  uint32_t op_count = 0;
  SparseParts sparse = {};             ///< of the weights that its products read
  Work work;                           ///< of one launch, at the plan's micro-batch
  std::vector<Product> products = {};  ///< of a GPU's share of it; `work` has the bytes of all else
  double launches = 1;                 ///< on a GPU, beside one for each product
};

struct Buffer {
  std::string name;
  TensorType type;  ///< of one instance; static
  BufferKind kind = BufferKind::Activation;
  Place home = Place::Wafer;
  std::string layer;     ///< label of the layer or section that makes it
  bool frozen = false;   ///< a parameter that no update changes
  double instances = 1;  ///< how many there are at once: one a layer of the Repeat around it
  Bytes bytes() const { return type.bytes() * instances; }
};

/// A kernel runs on the wafer, or an update at the store.
struct Launch {
  KernelId kernel;
  Place where = Place::Wafer;
  bool recompute = false;  ///< a forward kernel run again in the backward pass
};
/// One buffer crosses the wafer's edge.
struct Move {
  enum class Kind : uint8_t { WeightIn, GradientOut, DataIn, ActivationOut, ActivationIn };
  Kind kind = Kind::WeightIn;
  BufferId buffer;
  SparseParts sparse = {};  ///< zeros are not sent; what is sent carries its place
  Bytes bytes;              ///< on the wire, of one instance
};
/// The store applies the optimizer to the parameters of one layer; the kernel names the first of
/// their updates in the graph and has the work of all.
struct Update {
  KernelId kernel;
  std::vector<BufferId> parameters;
};
/// Nothing after it starts before all before it has ended (a global norm, the loss).
struct Barrier {
  std::string reason;
};
/// One layer, or a section between layers (embedding, head): it occupies the whole wafer while its
/// steps run; its moves may overlap its launches.
struct Layer;
/// A loop whose body is planned once.
struct Repeat;

using Node = std::variant<Launch, Move, Update, Barrier, Collective, Layer, Repeat>;

struct Layer {
  std::string name;  ///< "layer", "embedding", "head"
  ir::Phase phase = ir::Phase::Forward;
  int passes = 1;  ///< how often the wafer is set up anew for it: forward 1; backward 2, the
                   ///< gradient of the input and of the weights; 0 when no weights take part
  std::vector<Node> body;
  Stage stage = Stage::Every;
};

struct Repeat {
  enum class Over : uint8_t { MicroBatches, Layers };
  Over over = Over::Layers;
  double times = 1;
  std::vector<Node> body;
};

/// What a user may pin; empty or 0 where the compiler chose.
enum class Recompute : uint8_t { None, Selective, Full };

/// What compile makes and all else consumes.
struct Plan {
  std::string model;
  std::string machine;
  Target target = Target::WaferStreamed;
  bool training = true;
  int64_t systems = 1;
  int64_t batch = 1;         ///< samples of one step over all systems
  int64_t micro_batch = 1;   ///< samples that one system works on at a time
  double micro_batches = 1;  ///< that one system runs in a step: batch / systems / micro_batch
  int64_t tokens_per_sample = 1;
  DType precision = DType::F16;
  bool tf32 = false;  ///< f32 in memory, products in tf32
  Recompute recompute = Recompute::None;
  bool spilled = false;                ///< kept activations leave the wafer
  Sparsity sparsity;                   ///< of the weights that stream, where nothing else is said
  std::string micro_batch_reason;      ///< the rule that chose it, in words
  std::string activation_reason;       ///< where activations live, and why
  double parameters = 0;               ///< of the model, in numbers
  Flops model_flops_per_sample;        ///< products only, no recompute: 6N + attention
  Flops hardware_flops_per_sample;     ///< of a cluster: with what is recomputed
  Parallelism parallel;                ///< of a cluster
  std::optional<Resident> resident{};  ///< of Target::WaferResident
  double length_variation = 0;         ///< of unpadded samples: deviation of a length / mean length
  ir::Graph graph;                     ///< bound to the micro-batch
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Node> body;
  std::optional<Pipeline> pipeline;  ///< of Target::WaferPipelined

  const Kernel& kernel(KernelId id) const { return kernels[id.index]; }
  const Buffer& buffer(BufferId id) const { return buffers[id.index]; }
};

std::string_view name_of(Target target);
std::string_view name_of(Place place);
std::string_view name_of(BufferKind kind);
std::string_view name_of(Move::Kind kind);
std::string_view name_of(Recompute recompute);
std::string_view name_of(Repeat::Over over);

/// The problems, one a line; none when the plan holds: ids in range, positive counts, weights in
/// before the launch that reads them, a gradient out and one update for each parameter of a
/// training plan, moves of the buffer's size, activations in only after they went out.
std::vector<std::string> problems_of(const Plan& plan);

/// The tree, one node a line, with buffers and kernels; deterministic.
std::string print_text(const Plan& plan);
std::string print_json(const Plan& plan);

}  // namespace wafer::plan
