#include "wafer/compile/resident.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/machine/figures.h"

namespace wafer::compile {
namespace {

using plan::ResidentLayer;

constexpr double ElementBytes = 2;  // 16-bit floats

/// Elements of one PE, where `width` is spread over an edge.
int64_t tile(double width, int64_t mesh) {
  return static_cast<int64_t>(std::ceil(width / static_cast<double>(mesh)));
}

/// The attention that follows step `at` of a layer, or null.
const AttentionStep* attention_after(const LayerProfile& layer, size_t at) {
  for (; at < layer.steps.size(); ++at) {
    if (const auto* attention = std::get_if<AttentionStep>(&layer.steps[at])) return attention;
  }
  return nullptr;
}

/// Columns of a matrix in front of attention `a`: where it makes keys or values that several heads
/// share, those of all heads. Rotation hides which matrix attention reads; their width tells.
double expanded(const AttentionStep* a, double columns) {
  if (a == nullptr) return columns;
  const bool shared =
      columns == a->batch_kv_heads * a->depth || columns == a->batch_kv_heads * a->value_depth;
  return shared ? columns * a->batch_heads / a->batch_kv_heads : columns;
}

class Spreader {
 public:
  Spreader(const LayerProfile& layer, const ResidentRequest& request)
      : layer_(layer), request_(request), s_(tile(static_cast<double>(request.tokens), edge())) {
    spread_.part = request.part;
    spread_.mesh = request.mesh;
  }

  ResidentLayer run() {
    for (at_ = 0; at_ < layer_.steps.size(); ++at_) {
      std::visit([this](const auto& one) { add(one); }, layer_.steps[at_]);
    }
    return spread_;
  }

 private:
  int64_t edge() const { return request_.mesh; }
  bool prefill() const { return request_.part == ResidentLayer::Part::Prefill; }
  int64_t rows() const { return prefill() ? s_ : 1; }

  void multiply(const std::string& name, int64_t inner, int64_t columns, bool aligned) {
    spread_.products.push_back({name, rows(), inner, columns, aligned});
  }
  void reduce(int64_t words) {
    if (!prefill()) spread_.reductions.push_back(words);
  }

  // Matrices with one left operand share its shift and their sum.
  void add(const ProductStep& product) {
    if (!product.weight || product.shape.batch != 1) {
      throw InputError(fmt::format(
          "{}: resident inference spreads products with weights and attention; found a product of "
          "two activations or of batched weights; use weight streaming",
          product.name));
    }
    const AttentionStep* attention = request_.expand_keys ? attention_after(layer_, at_) : nullptr;
    int64_t words = 0;
    for (size_t i = 0; i < product.columns.size(); ++i) {
      const double width = expanded(attention, product.columns[i]);
      multiply(product.name, tile(product.shape.k, edge()), tile(width, edge()), i == 0);
      words += tile(width, edge());
    }
    reduce(words);
  }

  void add(const AttentionStep& a) {
    const double heads = request_.expand_keys ? a.batch_heads : a.batch_kv_heads;
    const int64_t keys = tile(heads * a.depth, edge());
    const int64_t values = tile(heads * a.value_depth, edge());
    multiply(a.name + "/scores", keys, s_, false);
    multiply(a.name + "/context", s_, values, true);
    reduce(s_);
    reduce(1);  // the largest score
    reduce(1);  // the sum of exponentials
    reduce(values);
    if (prefill()) spread_.passed_words += static_cast<double>(s_ * s_);
    spread_.scalar_functions += static_cast<double>(rows() * s_);
    if (!prefill()) spread_.scalar_functions += 2;
  }

  void add(const PassStep& pass) {
    using Kind = PassStep::Kind;
    if (pass.kind == Kind::Norm) {
      reduce(1);
      if (!prefill()) spread_.scalar_functions += 1;
    } else if (pass.kind == Kind::Nonlinear) {
      spread_.scalar_functions +=
          static_cast<double>(rows() * tile(pass.elements / tokens_of_unit(), edge()));
    }
  }

  // The graph that was looked at has a prompt of its own length.
  double tokens_of_unit() const {
    for (const Step& step : layer_.steps) {
      if (const auto* product = std::get_if<ProductStep>(&step)) return product->shape.m;
    }
    return 1;
  }

  const LayerProfile& layer_;
  const ResidentRequest& request_;
  ResidentLayer spread_;
  int64_t s_;      ///< tokens of a PE
  size_t at_ = 0;  ///< the step that is spread
};

/// Weights of a layer and its cache, of one PE. The cache has the heads that there are.
double bytes_of_pe(const LayerProfile& layer, const ResidentRequest& request) {
  double elements = 0;
  for (const Step& step : layer.steps) {
    if (const auto* product = std::get_if<ProductStep>(&step)) {
      for (const double columns : product->columns) {
        elements +=
            static_cast<double>(tile(product->shape.k, request.mesh) * tile(columns, request.mesh));
      }
    } else if (const auto* a = std::get_if<AttentionStep>(&step)) {
      const double width = a->batch_kv_heads * (a->depth + a->value_depth);
      elements += static_cast<double>(tile(static_cast<double>(request.tokens), request.mesh) *
                                      tile(width, request.mesh));
    }
  }
  return elements * ElementBytes;
}

}  // namespace

ResidentLayer resident_layer(const LayerProfile& layer, const ResidentRequest& request) {
  return Spreader(layer, request).run();
}

ResidentPlacement place_resident(const Profile& profile, const machine::Wafer& machine,
                                 const ResidentRequest& request, int64_t systems) {
  const int64_t width = machine.usable.width.value, height = machine.usable.height.value;
  if (request.mesh < 1 || request.mesh > std::min(width, height)) {
    throw InputError(fmt::format("cores {0}x{0}: {1} has {2} x {3} PEs; give a mesh of 1 to {4}",
                                 request.mesh, machine.name, width, height,
                                 std::min(width, height)));
  }
  ResidentPlacement placed;
  placed.layers = static_cast<int64_t>(profile.repeated());
  for (const LayerProfile& layer : profile.layers) {
    if (!layer.repeated) continue;
    placed.bytes_of_pe = std::max(placed.bytes_of_pe, bytes_of_pe(layer, request));
  }
  if (placed.layers == 0 || placed.bytes_of_pe == 0) {
    throw InputError("resident inference spreads repeated layers; the network has none");
  }
  const double room = machine.sram.bytes.value.value - machine.resident.reserved.value.value;
  placed.layers_of_region = static_cast<int64_t>(room / placed.bytes_of_pe);
  if (placed.layers_of_region < 1) {
    throw CapacityError(fmt::format(
        "a layer takes {:.0f} bytes of each PE on {}x{} cores, {:.0f} are free; take more cores",
        placed.bytes_of_pe, request.mesh, request.mesh, room));
  }
  placed.regions_of_wafer = (width / request.mesh) * (height / request.mesh);
  const int64_t of_wafer = placed.regions_of_wafer * placed.layers_of_region;
  placed.wafers = (placed.layers + of_wafer - 1) / of_wafer;
  if (placed.wafers > systems) {
    throw CapacityError(fmt::format(
        "{} layers need {} wafers on {}x{} cores, {} a wafer; found {}: give --systems {}",
        placed.layers, placed.wafers, request.mesh, request.mesh, of_wafer, systems,
        placed.wafers));
  }
  return placed;
}

}  // namespace wafer::compile
