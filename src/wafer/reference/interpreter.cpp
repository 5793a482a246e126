#include "wafer/reference/interpreter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>

#include "wafer/base/error.h"
#include "wafer/ir/builder.h"
#include "wafer/ir/decompose.h"
#include "wafer/ir/verify.h"
#include "wafer/reference/kernel.h"

namespace wafer::reference {
namespace {

using ir::AttrKey;
using ir::Function;
using ir::FunctionId;
using ir::Graph;
using ir::Op;
using ir::OpKind;

/// Values go through calls without being copied, hence shared.
using TensorRef = std::shared_ptr<const Tensor>;
using TensorRefs = std::vector<TensorRef>;
using Types = std::vector<TensorType>;

using Kernel = Tensors (*)(const Job&);
/// The kernels of primitives, in the order of OpKind; composites and sub-graphs have none.
constexpr std::array<Kernel, static_cast<size_t>(OpKind::LayerNorm)> Kernels = {
    constant,
    iota,
    rng,
    elementwise,
    convert,
    broadcast_in_dim,
    reshape,
    transpose,
    slice,
    dynamic_slice,
    dynamic_update_slice,
    concatenate,
    pad,
    reverse,
    reduce,
    arg_reduce,
    reduce_window,
    select_and_scatter,
    cumulative,
    sort,
    dot_general,
    convolution,
    gather,
    scatter};

/// "dot_general in main (mlp.onnx:fc1)"
std::string place_of(const Function& function, const Op& op) {
  const std::string& where = op.location.empty() ? op.scope : op.location;
  return fmt::format("{} in {}{}", ir::name_of(op.kind), function.name,
                     where.empty() ? "" : " (" + where + ")");
}

/// What an evaluation has used of its limits.
class Ledger {
 public:
  explicit Ledger(const Options& options) : options_(options) {}

  /// Before an op makes `count` elements with `work` operations.
  void charge(const Function& f, const Op& op, int64_t count, double work) {
    if (alive_ > options_.max_elements - count) {
      throw CapacityError(fmt::format(
          "{}: makes {} elements while {} are alive; the interpreter holds {}. Bind smaller "
          "dimensions",
          place_of(f, op), count, alive_, options_.max_elements));
    }
    operations_ += work;
    if (operations_ > options_.max_operations) {
      throw CapacityError(fmt::format(
          "{}: the graph takes more than {} operations, the interpreter's limit. Bind smaller "
          "dimensions, or see whether a loop ends",
          place_of(f, op), options_.max_operations));
    }
  }

  TensorRef keep(Tensor tensor) {
    alive_ += tensor.type.elements();
    const auto forget = [this](const Tensor* t) {
      alive_ -= t->type.elements();
      delete t;
    };
    return {new Tensor(std::move(tensor)), forget};
  }

 private:
  const Options& options_;
  int64_t alive_ = 0;
  double operations_ = 0;
};

double elements(const TensorType& type) { return static_cast<double>(type.elements()); }

/// Operations for each result element, roughly.
double work_per_element(const Function& f, const Op& op) {
  double work = 1;
  if (op.kind == OpKind::DotGeneral) {
    const Shape& shape = f.type_of(op.operands[0]).shape;
    for (int64_t d : op.attrs.get<ir::DimPairs>(AttrKey::Contract).lhs) {
      work *= static_cast<double>(shape[static_cast<size_t>(d)].value());
    }
  } else if (op.kind == OpKind::Convolution) {
    work = elements(f.type_of(op.operands[1]));
  } else if (const ir::AttrValue* window = op.attrs.find(AttrKey::Window)) {
    for (int64_t w : std::get<ir::Ints>(*window)) work *= static_cast<double>(w);
  }
  return work;
}

/// Operations of an op, roughly: what it reads, and what each of its results takes.
double work_of(const Function& f, const Op& op) {
  double work = 1;
  for (ir::ValueId v : op.operands) work += elements(f.type_of(v));
  for (ir::ValueId v : op.results) work += elements(f.type_of(v)) * work_per_element(f, op);
  return work;
}

class Evaluator {
 public:
  Evaluator(const Graph& graph, const Options& options, Ledger& ledger)
      : graph_(graph), options_(options), ledger_(ledger) {}

  TensorRefs run(FunctionId id, TensorRefs inputs) {
    const Function& f = graph_.function(id);
    TensorRefs values(f.values.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      values[f.inputs[i].value.index] = std::move(inputs[i]);
    }
    const std::vector<size_t> last = last_uses(f);
    for (size_t i = 0; i < f.ops.size(); ++i) {
      TensorRefs operands;
      for (ir::ValueId v : f.ops[i].operands) operands.push_back(values[v.index]);
      for (ir::ValueId v : f.ops[i].operands) {
        if (last[v.index] == i) values[v.index].reset();
      }
      TensorRefs results = run_op(f, f.ops[i], std::move(operands));
      for (size_t r = 0; r < results.size(); ++r) {
        const size_t v = f.ops[i].results[r].index;
        if (last[v] != i) values[v] = std::move(results[r]);
      }
    }
    TensorRefs outputs;
    for (const ir::Output& output : f.outputs) outputs.push_back(values[output.value.index]);
    return outputs;
  }

  TensorRefs run_op(const Function& f, const Op& op, TensorRefs operands) {
    if (op.kind == OpKind::Call) {
      return run(op.attrs.get<FunctionId>(AttrKey::Body), std::move(operands));
    }
    Types types;
    int64_t count = 0;
    for (ir::ValueId v : op.results) {
      types.push_back(f.type_of(v));
      count += types.back().elements();
    }
    ledger_.charge(f, op, count, work_of(f, op));
    switch (op.kind) {
      case OpKind::While:
        return loop(f, op, std::move(operands));
      case OpKind::Conditional:
        return choose(op, std::move(operands));
      case OpKind::AllReduce:
      case OpKind::AllGather:
      case OpKind::ReduceScatter:
      case OpKind::AllToAll:
      case OpKind::CollectivePermute:
        check_alone(f, op);
        return operands;
      case OpKind::CustomCall:
        throw InputError(fmt::format("{}: nothing is known of how to compute custom call \"{}\"",
                                     place_of(f, op), op.attrs.get<std::string>(AttrKey::Target)));
      default:
        break;
    }
    if (ir::is_composite(op.kind)) return composite(op, operands);
    if (op.attrs.has(AttrKey::Body)) return reduce_by_body(op, types, operands);
    return run_kernel(op, types, operands);
  }

 private:
  /// The op after which each value is no longer needed; past the end for outputs.
  static std::vector<size_t> last_uses(const Function& f) {
    std::vector<size_t> last(f.values.size(), 0);
    for (size_t i = 0; i < f.ops.size(); ++i) {
      for (ir::ValueId v : f.ops[i].operands) last[v.index] = i;
      for (ir::ValueId v : f.ops[i].results) last[v.index] = i;
    }
    for (const ir::Output& output : f.outputs) last[output.value.index] = f.ops.size();
    return last;
  }

  TensorRefs run_kernel(const Op& op, const Types& types, const TensorRefs& operands) {
    std::vector<const Tensor*> plain;
    for (const TensorRef& operand : operands) plain.push_back(operand.get());
    TensorRefs results;
    for (Tensor& tensor :
         Kernels[static_cast<size_t>(op.kind)]({.kind = op.kind,
                                                .attrs = op.attrs,
                                                .operands = plain,
                                                .results = types,
                                                .precision = options_.precision})) {
      results.push_back(ledger_.keep(std::move(tensor)));
    }
    return results;
  }

  TensorRefs composite(const Op& op, const TensorRefs& operands) {
    Graph parts;
    parts.main = parts.add_function(std::string(ir::name_of(op.kind)));
    ir::Builder b(parts, parts.main);
    b.location = op.location;
    std::vector<ir::ValueId> inputs;
    for (const TensorRef& operand : operands) {
      inputs.push_back(b.input(fmt::format("{}", inputs.size()), operand->type));
    }
    for (ir::ValueId v : ir::decompose(b, op.kind, inputs, op.attrs)) b.output("", v);
    return Evaluator(parts, options_, ledger_).run(parts.main, operands);
  }

  TensorRefs loop(const Function& f, const Op& op, TensorRefs carried) {
    const auto condition = op.attrs.get<FunctionId>(AttrKey::Condition);
    while (run(condition, carried)[0]->integers[0] != 0) {
      ledger_.charge(f, op, 0, 1);
      carried = run(op.attrs.get<FunctionId>(AttrKey::Body), std::move(carried));
    }
    return carried;
  }

  /// i32: the branch of that number, the last one where there is none. bool: the first if true.
  TensorRefs choose(const Op& op, TensorRefs operands) {
    const auto& branches = op.attrs.get<std::vector<FunctionId>>(AttrKey::Branches);
    const Tensor& index = *operands[0];
    const auto last = static_cast<int64_t>(branches.size()) - 1;
    int64_t chosen = index.integers[0];
    if (index.type.dtype == DType::Bool) chosen = chosen != 0 ? 0 : 1;
    if (chosen < 0 || chosen > last) chosen = last;
    operands.erase(operands.begin());
    return run(branches[static_cast<size_t>(chosen)], std::move(operands));
  }

  static void check_alone(const Function& f, const Op& op) {
    bool alone = op.attrs.get_or<int64_t>(AttrKey::GroupSize, 1) == 1;
    if (op.kind == OpKind::CollectivePermute) {
      alone = op.attrs.get<ir::DimPairs>(AttrKey::Pairs) == ir::DimPairs{{0}, {0}};
    }
    if (alone) return;
    throw InputError(fmt::format(
        "{}: works between several devices (group \"{}\"); the interpreter is a single one",
        place_of(f, op), op.attrs.get<std::string>(AttrKey::Group)));
  }

  TensorRef element(const Tensor& from, size_t position) {
    Tensor scalar = zeros({from.type.dtype, {}});
    by_storage(from.type.dtype,
               [&]<typename T>() { elements_of<T>(scalar)[0] = elements_of<T>(from)[position]; });
    return ledger_.keep(std::move(scalar));
  }

  TensorRefs reduce_by_body(const Op& op, const Types& types, const TensorRefs& operands) {
    const size_t n = operands.size() / 2;
    const Index sizes = sizes_of(operands[0]->type.shape);
    const Index strides = strides_of(sizes);
    const auto& dims = op.attrs.get<ir::Ints>(AttrKey::Dims);
    const Index kept = complement(sizes.size(), dims);
    std::vector<Tensor> results;
    for (const TensorType& type : types) results.push_back(zeros(type));
    size_t next = 0;
    for_each_index(at(sizes, kept), [&](const Index& outer) {
      TensorRefs running(operands.begin() + static_cast<std::ptrdiff_t>(n), operands.end());
      for_each_index(at(sizes, dims), [&](const Index& inner) {
        const int64_t p = dot(outer, at(strides, kept)) + dot(inner, at(strides, dims));
        for (size_t i = 0; i < n; ++i) {
          running.push_back(element(*operands[i], static_cast<size_t>(p)));
        }
        running = run(op.attrs.get<FunctionId>(AttrKey::Body), std::move(running));
      });
      for (size_t i = 0; i < n; ++i) {
        by_storage(types[i].dtype, [&]<typename T>() {
          elements_of<T>(results[i])[next] = elements_of<T>(*running[i])[0];
        });
      }
      ++next;
    });
    TensorRefs refs;
    for (Tensor& tensor : results) refs.push_back(ledger_.keep(std::move(tensor)));
    return refs;
  }

  const Graph& graph_;
  const Options& options_;
  Ledger& ledger_;
};

/// Input tensors in the hands of the caller.
TensorRefs borrowed(std::span<const Tensor> tensors) {
  TensorRefs refs;
  for (const Tensor& tensor : tensors) refs.emplace_back(TensorRef(), &tensor);
  return refs;
}

Tensors owned(const TensorRefs& refs) {
  Tensors tensors;
  for (const TensorRef& ref : refs) tensors.push_back(*ref);
  return tensors;
}

size_t held_elements(const Tensor& tensor) {
  return is_float(tensor.type.dtype) ? tensor.floats.size() : tensor.integers.size();
}

void check_inputs(const Function& f, std::span<const Tensor> inputs) {
  Problems problems;
  for (size_t i = 0; i < std::min(inputs.size(), f.inputs.size()); ++i) {
    const TensorType& expected = f.type_of(f.inputs[i].value);
    if (inputs[i].type != expected ||
        held_elements(inputs[i]) != static_cast<size_t>(expected.elements())) {
      problems.add(fmt::format("input {} ({}) is {}; found {} with {} elements", i,
                               f.inputs[i].name, expected.text(), inputs[i].type.text(),
                               held_elements(inputs[i])));
    }
  }
  if (inputs.size() != f.inputs.size()) {
    problems.add(fmt::format("{} takes {} inputs, not {}", f.name, f.inputs.size(), inputs.size()));
  }
  problems.throw_if_any("these are not the inputs of the graph:");
}

}  // namespace

std::vector<Tensor> evaluate(const Graph& graph, std::span<const Tensor> inputs,
                             const Options& options) {
  ir::verify(graph);
  const std::vector<std::string> symbols = ir::unbound_symbols(graph);
  if (!symbols.empty()) {
    throw InputError(
        fmt::format("only bound dimensions can be computed; give --dim NAME=VALUE for {}",
                    fmt::join(symbols, ", ")));
  }
  check_inputs(graph.entry(), inputs);
  Ledger ledger(options);
  return owned(Evaluator(graph, options, ledger).run(graph.main, borrowed(inputs)));
}

std::vector<Tensor> evaluate_op(const Graph& graph, const Op& op,
                                std::span<const TensorType> results,
                                std::span<const Tensor> operands, const Options& options) {
  Function f;
  f.name = "constant folding";
  Op copy = op;
  copy.operands.clear();
  for (const Tensor& operand : operands) copy.operands.push_back(f.add_input("", operand.type));
  f.append(copy, Types(results.begin(), results.end()));
  Ledger ledger(options);
  Evaluator evaluator(graph, options, ledger);
  return owned(evaluator.run_op(f, f.ops[0], borrowed(operands)));
}

}  // namespace wafer::reference
