#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "wafer/base/error.h"
#include "wafer/compile/pipelined.h"

namespace wafer::compile {
namespace {

using plan::PipelineKernel;
using Kind = PipelineKernel::Kind;

/// Writes the kernels of one layer after the other.
class KernelWriter {
 public:
  explicit KernelWriter(const Profile& profile)
      : profile_(profile), unit_(static_cast<double>(profile.unit)), layers_(profile.repeated()) {}

  std::vector<PipelineKernel> run() {
    for (const LayerProfile& layer : profile_.layers) {
      for (int64_t i = 0; i < static_cast<int64_t>(layer.times); ++i) add(layer, i);
    }
    add_table();
    problems_.throw_if_any(
        "mode pipelined has kernels for weight products, attention, norms, element-wise ops and "
        "losses; weight streaming (--mode streamed) runs this network too. There is none for:");
    return std::move(kernels_);
  }

 private:
  void add(const LayerProfile& layer, int64_t number) {
    layer_ = &layer;
    number_ = number;
    const size_t begin = kernels_.size();
    for (at_ = 0; at_ < layer.steps.size(); ++at_) {
      std::visit([this](const auto& step) { add(step); }, layer.steps[at_]);
    }
    add_fifo(begin);
  }

  PipelineKernel kernel(const std::string& name, Kind kind) const {
    PipelineKernel k;
    k.name = name;
    k.layer = layer_->name;
    k.number = number_;
    k.kind = kind;
    return k;
  }

  void refuse(const std::string& what) {
    if (refused_.insert(what).second) problems_.add(what);
  }

  void add(const ProductStep& p) {
    if (p.convolution) return refuse(fmt::format("{}: a convolution", p.name));
    if (!p.weight) return refuse(fmt::format("{}: a product of two activations", p.name));
    if (p.shape.batch != 1) return refuse(fmt::format("{}: a product of batched weights", p.name));
    // Matrices that read the same operand are one kernel.
    const size_t more = p.columns.size() - 1;
    PipelineKernel k =
        kernel(more == 0 ? p.name : fmt::format("{} +{}", p.name, more), Kind::Product);
    k.rows = p.shape.m / unit_;
    k.inner = p.shape.k;
    k.columns = p.shape.n;
    k.predicts = feeds_loss(p);
    k.moved = k.rows * (k.inner + (k.predicts ? 0 : k.columns));
    k.flops = p.shape.flops() / unit_;
    weights_ += k.inner * k.columns;
    kernels_.push_back(std::move(k));
  }

  // The next step is a loss of as many elements.
  bool feeds_loss(const ProductStep& p) const {
    if (at_ + 1 >= layer_->steps.size()) return false;
    const auto* next = std::get_if<PassStep>(&layer_->steps[at_ + 1]);
    return next != nullptr && next->kind == PassStep::Kind::Loss &&
           next->elements == p.shape.m * p.shape.n;
  }

  void add(const AttentionStep& a) {
    PipelineKernel k = kernel(a.name, Kind::Attention);
    k.flops = a.flops() / unit_;
    const double queries = a.batch_heads * a.queries * (a.depth + a.value_depth);
    const double keys = a.batch_kv_heads * a.keys * (a.depth + a.value_depth);
    k.moved = (queries + keys) / unit_;
    k.elements = a.scores() / unit_;
    kernels_.push_back(std::move(k));
  }

  static Kind kind_of(PassStep::Kind kind) {
    switch (kind) {
      case PassStep::Kind::Linear:
      case PassStep::Kind::Lookup:
        return Kind::Sum;
      case PassStep::Kind::Nonlinear:
        return Kind::Nonlinear;
      case PassStep::Kind::Norm:
        return Kind::Norm;
      case PassStep::Kind::Softmax:
      case PassStep::Kind::Loss:
        return Kind::Loss;
    }
    throw InternalError("no such pass");
  }

  // A pass that joins element-wise ops has the name of the step behind it: "mlp/down" is GELU.
  static std::string name_of(const PassStep& pass) {
    const Kind kind = kind_of(pass.kind);
    const size_t slash = pass.name.rfind('/');
    if ((kind != Kind::Sum && kind != Kind::Nonlinear) || slash == std::string::npos) {
      return pass.name;
    }
    return pass.name.substr(0, slash + 1) + std::string(plan::name_of(kind));
  }

  void add(const PassStep& pass) {
    PipelineKernel k = kernel(name_of(pass), kind_of(pass.kind));
    k.elements = pass.elements / unit_;
    kernels_.push_back(std::move(k));
  }

  // P4. What the layer keeps, for each sample that passes between its forward and its backward
  // pass. It lies in the middle of its layer.
  void add_fifo(size_t begin) {
    const double kept = (layer_->kept.whole + layer_->kept.shared) / unit_;
    const double samples = std::max(1.0, 2 * (layers_ - done_) - 1);
    if (layer_->repeated) ++done_;
    if (kept <= 0) return;
    PipelineKernel k = kernel("fifo", Kind::Fifo);
    k.elements = kept * samples;
    const auto middle = static_cast<std::ptrdiff_t>((begin + kernels_.size()) / 2);
    kernels_.insert(kernels_.begin() + middle, std::move(k));
  }

  // Parameters that no product has: embeddings, positions, biases, norms.
  void add_table() {
    const double rest = profile_.parameters - weights_;
    if (rest < 1) return;
    PipelineKernel k;
    k.name = "table";
    k.layer = profile_.layers.front().repeated ? "parameters" : profile_.layers.front().name;
    k.kind = Kind::Table;
    k.elements = rest;
    kernels_.insert(kernels_.begin(), std::move(k));
  }

  const Profile& profile_;
  const double unit_;
  const double layers_;
  double done_ = 0;  ///< repeated layers so far
  double weights_ = 0;
  const LayerProfile* layer_ = nullptr;
  int64_t number_ = 0;
  size_t at_ = 0;
  Problems problems_;
  std::set<std::string> refused_;
  std::vector<PipelineKernel> kernels_;
};

}  // namespace

std::vector<PipelineKernel> pipeline_kernels(const Profile& profile) {
  return KernelWriter(profile).run();
}

}  // namespace wafer::compile
