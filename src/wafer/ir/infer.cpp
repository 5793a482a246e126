#include "wafer/ir/infer.h"

#include <array>

#include "wafer/ir/op_table.h"
#include "wafer/ir/typing.h"

namespace wafer::ir {
namespace {

using Rule = Types (*)(const Typing&);

/// In the order of OpKind.
constexpr std::array<Rule, OpKindCount> Rules = {
    type_constant,
    type_iota,
    type_rng,
    type_elementwise,
    type_convert,
    type_broadcast_in_dim,
    type_reshape,
    type_transpose,
    type_slice,
    type_dynamic_slice,
    type_dynamic_update_slice,
    type_concatenate,
    type_pad,
    type_reverse,
    type_reduce,
    type_arg_reduce,
    type_reduce_window,
    type_select_and_scatter,
    type_cumulative,
    type_sort,
    type_dot_general,
    type_convolution,
    type_gather,
    type_scatter,
    type_norm,        // layer_norm
    type_norm,        // layer_norm_grad
    type_norm,        // rms_norm
    type_norm,        // rms_norm_grad
    type_batch_norm,  // batch_norm
    type_batch_norm,  // batch_norm_grad
    type_softmax,     // softmax
    type_softmax,     // softmax_grad
    type_softmax,     // gelu
    type_softmax,     // gelu_grad
    type_attention,   // attention
    type_attention,   // attention_grad
    type_cross_entropy,
    type_cross_entropy_grad,
    type_call,
    type_while,
    type_conditional,
    type_all_reduce,
    type_all_gather,
    type_reduce_scatter,
    type_all_to_all,
    type_collective_permute,
    type_custom_call,
};

void check_row(const Typing& t) {
  const std::vector<std::string> problems =
      row_problems(t.graph, t.kind, t.operands.size(), t.attrs);
  if (problems.empty()) return;
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : "\n") + problem;
  throw InputError(text);
}

/// Rule TYPE3.
void check_declared(const Typing& t) {
  for (const TensorType& type : t.declared) {
    for (const Dim& dim : type.shape) {
      t.require(dim.factor() >= 0, "TYPE3", "dimensions are not negative; found {}", type);
    }
  }
}

/// Rule TYPE2.
void check_agreement(const Typing& t, const Types& results) {
  if (t.declared.empty() || t.declared == results) return;
  t.require(t.declared.size() == results.size(), "TYPE2", "has {} results, but {} are declared",
            results.size(), t.declared.size());
  for (size_t i = 0; i < results.size(); ++i) {
    t.require(t.declared[i] == results[i], "TYPE2", "result {} is {}, but declared as {}", i,
              results[i], t.declared[i]);
  }
}

}  // namespace

void Typing::fail(const char* rule, const std::string& what) const {
  throw InputError(fmt::format("{}: {} [{}]", name_of(kind), what, rule));
}

const TensorType& Typing::declared_one() const {
  require(declared.size() == 1, "TYPE1", "the type of its one result must be declared; found {}",
          declared.size());
  return declared.front();
}

void Typing::require_equal_types(const char* rule, size_t from, size_t to) const {
  for (size_t i = from + 1; i < to; ++i) {
    require(operands[i] == operands[from], rule,
            "operands {} and {} must be alike; found {} and {}", from, i, operands[from],
            operands[i]);
  }
}

void Typing::require_float(const char* rule, size_t operand) const {
  require(is_float(operands[operand].dtype), rule, "operand {} must hold floats; found {}", operand,
          operands[operand]);
}

void Typing::require_integer(const char* rule, const TensorType& type, const char* what) const {
  require(is_integer(type.dtype), rule, "{} must hold integers; found {}", what, type);
}

void Typing::require_scalar(const char* rule, size_t operand, DType dtype) const {
  const TensorType& type = operands[operand];
  require(type.rank() == 0 && type.dtype == dtype, rule, "operand {} must be {}[]; found {}",
          operand, name_of(dtype), type);
}

void Typing::require_dims(const char* rule, const Ints& dims, size_t rank, const char* what) const {
  std::vector<bool> seen(rank, false);
  for (int64_t d : dims) {
    const size_t dim = require_dim(rule, d, rank);
    require(!seen[dim], rule, "dimension {} stands twice in {}", d, what);
    seen[dim] = true;
  }
}

size_t Typing::require_dim(const char* rule, int64_t dim, size_t rank) const {
  require(dim >= 0 && dim < static_cast<int64_t>(rank), rule,
          "there is no dimension {} in rank {}; dimensions count from 0", dim, rank);
  return static_cast<size_t>(dim);
}

void Typing::require_length(const char* rule, const Ints& list, size_t length, AttrKey key) const {
  require(list.size() == length, rule, "{} needs one entry a dimension: {}, not {}", name_of(key),
          length, list.size());
}

void Typing::require_reduction(const char* rule, ElementFn fn, DType dtype) const {
  require(is_reduction(fn), rule,
          "cannot reduce by {}; takes add, multiply, maximum, minimum, and, or, xor", name_of(fn));
  require(takes(fn, dtype), rule, "{} takes {}, not {}", name_of(fn), taken_by(fn), name_of(dtype));
}

bool may_be_at_most(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) return a.value() <= b.value();
  if (a.symbols() == b.symbols()) return a.factor() <= b.factor();
  return true;
}

std::vector<TensorType> infer_types(const Graph& graph, OpKind kind,
                                    const std::vector<TensorType>& operands,
                                    const Attributes& attrs,
                                    const std::vector<TensorType>& declared) {
  const Typing t{graph, kind, operands, attrs, declared};
  check_row(t);
  check_declared(t);
  Types results = Rules[static_cast<size_t>(kind)](t);
  check_agreement(t, results);
  return results;
}

}  // namespace wafer::ir
