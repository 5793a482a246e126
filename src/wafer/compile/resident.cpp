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

/// Weights of a layer, of one PE.
double weight_bytes(const LayerProfile& layer, int64_t mesh) {
  double elements = 0;
  for (const Step& step : layer.steps) {
    const auto* product = std::get_if<ProductStep>(&step);
    if (product == nullptr) continue;
    for (const double columns : product->columns) {
      elements += static_cast<double>(tile(product->shape.k, mesh) * tile(columns, mesh));
    }
  }
  return elements * ElementBytes;
}

/// Keys and values of a layer, of one PE: those of the heads that there are.
double cache_bytes(const LayerProfile& layer, const ResidentRequest& request) {
  double elements = 0;
  for (const Step& step : layer.steps) {
    const auto* a = std::get_if<AttentionStep>(&step);
    if (a == nullptr) continue;
    const double width = a->batch_kv_heads * (a->depth + a->value_depth);
    elements += static_cast<double>(tile(static_cast<double>(request.tokens), request.mesh) *
                                    tile(width, request.mesh));
  }
  return elements * ElementBytes * static_cast<double>(request.requests);
}

/// What comes after the layers and has weights, or null.
const LayerProfile* head_of(const Profile& profile) {
  if (profile.layers.empty() || profile.layers.back().repeated) return nullptr;
  const LayerProfile& last = profile.layers.back();
  return weight_bytes(last, 1) > 0 ? &last : nullptr;
}

void check_mesh(const machine::Wafer& machine, int64_t mesh) {
  const int64_t width = machine.usable.width.value, height = machine.usable.height.value;
  if (mesh >= 1 && mesh <= std::min(width, height)) return;
  throw InputError(fmt::format("--cores {0}x{0}: {1} has {2} x {3} PEs; give a mesh of 1 to {4}",
                               mesh, machine.name, width, height, std::min(width, height)));
}

/// Wafers that all layers need. The head lies on PEs that no region has, or beside the layers of
/// the last region, or in regions of its own.
int64_t wafers_of(const plan::ResidentPlacement& at, int64_t usable_pes) {
  int64_t regions = (at.layers + at.layers_of_region - 1) / at.layers_of_region;
  const int64_t in_last = at.layers - (regions - 1) * at.layers_of_region;
  const double beside = at.room_bytes - static_cast<double>(in_last) * at.layer_bytes();
  const int64_t pes = at.mesh * at.mesh;
  const auto idle = static_cast<double>(usable_pes - at.regions_of_wafer * pes);
  const bool fits_idle = at.head_bytes * static_cast<double>(pes) <= idle * at.room_bytes;
  if (!fits_idle && at.head_bytes > beside) {
    regions += static_cast<int64_t>(std::ceil(at.head_bytes / at.room_bytes));
  }
  return (regions + at.regions_of_wafer - 1) / at.regions_of_wafer;
}

}  // namespace

ResidentLayer resident_layer(const LayerProfile& layer, const ResidentRequest& request) {
  return Spreader(layer, request).run();
}

std::optional<ResidentLayer> resident_head(const Profile& profile, const ResidentRequest& request) {
  const LayerProfile* const head = head_of(profile);
  if (head == nullptr) return std::nullopt;
  ResidentRequest token = request;
  token.part = ResidentLayer::Part::Decode;
  return resident_layer(*head, token);
}

plan::ResidentPlacement lay_out_resident(const Profile& profile, const machine::Wafer& machine,
                                         const ResidentRequest& request) {
  check_mesh(machine, request.mesh);
  plan::ResidentPlacement placed;
  placed.mesh = request.mesh;
  placed.layers = static_cast<int64_t>(profile.repeated());
  for (const LayerProfile& layer : profile.layers) {
    if (!layer.repeated) continue;
    placed.weight_bytes = std::max(placed.weight_bytes, weight_bytes(layer, request.mesh));
    placed.cache_bytes = std::max(placed.cache_bytes, cache_bytes(layer, request));
  }
  if (placed.layers == 0 || placed.weight_bytes == 0) {
    throw InputError(
        "resident inference spreads repeated layers, and the network has none; use --mode "
        "streamed");
  }
  const LayerProfile* const head = head_of(profile);
  if (head != nullptr) placed.head_bytes = weight_bytes(*head, request.mesh);
  placed.room_bytes = machine.sram.bytes.value.value - machine.resident.reserved.value.value;
  const int64_t width = machine.usable.width.value, height = machine.usable.height.value;
  placed.regions_of_wafer = (width / request.mesh) * (height / request.mesh);
  if (placed.layer_bytes() > placed.room_bytes) return placed;
  const int64_t pes = machine::usable_pes(machine);
  placed.layers_of_region = static_cast<int64_t>(placed.room_bytes / placed.layer_bytes());
  placed.wafers = wafers_of(placed, pes);
  return placed;
}

void check_fits(const plan::ResidentPlacement& placed, int64_t requests, int64_t systems) {
  const int64_t mesh = placed.mesh;
  if (placed.wafers == 0) {
    throw CapacityError(fmt::format(
        "a layer takes {:.0f} bytes of each PE on {}x{} cores, {:.0f} are free; take more cores{}",
        placed.layer_bytes(), mesh, mesh, placed.room_bytes,
        requests > 1 ? fmt::format(" or a smaller --batch: {} requests keep {:.0f} of these bytes",
                                   requests, placed.cache_bytes)
                     : ""));
  }
  if (placed.wafers > systems) {
    throw CapacityError(fmt::format(
        "{} layers need {} wafers on {}x{} cores, {} a wafer; found {}: give --systems {}{}",
        placed.layers, placed.wafers, mesh, mesh, placed.regions_of_wafer * placed.layers_of_region,
        systems, placed.wafers,
        requests > 1 ? fmt::format(" or a smaller --batch: {} requests are in flight", requests)
                     : ""));
  }
}

}  // namespace wafer::compile
