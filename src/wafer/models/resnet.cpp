#include <cmath>

#include <fmt/format.h>

#include "wafer/models/blocks.h"
#include "wafer/models/networks.h"

namespace wafer::models {
namespace {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;
using ir::Role;

constexpr int64_t Expansion = 4;  // channels out of a bottleneck block over those inside

struct Conv {
  std::string name;
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
};

class ResNetBuilder {
 public:
  ResNetBuilder(Builder& b, const ResNetSpec& spec, const BuildOptions& options)
      : b_(b), spec_(spec), options_(options) {}

  void build() {
    const Dim batch = Dim::symbol(std::string(ir::BatchSymbol));
    const ValueId pixels = b_.input(
        "pixel_values", {options_.dtype, {batch, spec_.channels, spec_.image, spec_.image}});
    ValueId x = stem(pixels);
    for (size_t i = 0; i < spec_.blocks.size(); ++i) x = stage(x, static_cast<int64_t>(i));
    classify(x);
  }

 private:
  ValueId stem(ValueId pixels) {
    const Scope scope(b_, "stem");
    ValueId x = conv(b_, pixels, {.name = "conv1", .out = spec_.width, .kernel = 7, .stride = 2});
    x = activate(b_, batch_norm(b_, x, "bn1"), Activation::Relu);
    const ValueId lowest = b_.scalar(-HUGE_VAL, options_.dtype);
    return b_.emit1(OpKind::ReduceWindow, {x, lowest},
                    {{AttrKey::Fn, ElementFn::Maximum},
                     {AttrKey::Window, Ints{1, 1, 3, 3}},
                     {AttrKey::Strides, Ints{1, 1, 2, 2}},
                     {AttrKey::PaddingLow, Ints{0, 0, 1, 1}},
                     {AttrKey::PaddingHigh, Ints{0, 0, 1, 1}}});
  }

  /// The blocks after the first have equal shapes: one function.
  ValueId stage(ValueId x, int64_t index) {
    const int64_t width = spec_.width << index;
    const int64_t stride = index == 0 ? 1 : 2;
    const std::string name = fmt::format("layer{}", index + 1);
    ir::FunctionId function;
    for (int64_t i = 0; i < spec_.blocks[static_cast<size_t>(index)]; ++i) {
      if (i == 0) function = block(name + ".first", x, width, stride);
      if (i == 1) function = block(name + ".rest", x, width, 1);
      b_.layer = fmt::format("{}.{}", name, i);
      x = call_with_parameters(b_, function, b_.layer + ".", {x});
      b_.layer.clear();
    }
    return x;
  }

  ir::FunctionId block(const std::string& name, ValueId like, int64_t width, int64_t stride) {
    const TensorType type = b_.type_of(like);
    const ir::FunctionId id = b_.graph().add_function(name);
    Builder b(b_.graph(), id);
    const ValueId in = b.input("x", type);
    ValueId x = conv_norm(b, in, {.name = "1", .out = width, .kernel = 1, .stride = 1});
    x = activate(b, x, Activation::Relu);
    x = conv_norm(b, x, {.name = "2", .out = width, .kernel = 3, .stride = stride});
    x = activate(b, x, Activation::Relu);
    x = conv_norm(b, x, {.name = "3", .out = width * Expansion, .kernel = 1, .stride = 1});
    const bool same = stride == 1 && type.shape[1] == Dim(width * Expansion);
    const ValueId shortcut = same ? in : downsample(b, in, width * Expansion, stride);
    b.output("y", activate(b, b.add(x, shortcut), Activation::Relu));
    return id;
  }

  /// conv<name> and bn<name>.
  ValueId conv_norm(Builder& b, ValueId x, Conv c) {
    const std::string index = c.name;
    c.name = "conv" + index;
    const Scope scope(b, c.name);
    return batch_norm(b, conv(b, x, c), "bn" + index);
  }

  ValueId downsample(Builder& b, ValueId x, int64_t out, int64_t stride) {
    const Scope scope(b, "downsample");
    x = conv(b, x, {.name = "downsample.0", .out = out, .kernel = 1, .stride = stride});
    return batch_norm(b, x, "downsample.1");
  }

  ValueId conv(Builder& b, ValueId x, const Conv& c) {
    const wafer::Shape shape = {c.out, b.shape_of(x)[1], c.kernel, c.kernel};
    const ValueId kernel = b.parameter(c.name + ".weight", {options_.dtype, shape});
    return convolve(b, x, kernel, {.stride = c.stride, .padding = c.kernel / 2});
  }

  /// In training by the statistics of the batch, else by the running ones.
  ValueId batch_norm(Builder& b, ValueId x, const std::string& name) {
    const TensorType type{options_.dtype, {b.shape_of(x)[1]}};
    const ValueId weight = b.parameter(name + ".weight", type);
    const ValueId bias = b.parameter(name + ".bias", type);
    if (options_.train) {
      return b
          .emit(OpKind::BatchNorm, {x, weight, bias},
                {{AttrKey::Epsilon, spec_.epsilon}, {AttrKey::Dim, int64_t{1}}})
          .front();
    }
    const ValueId mean = b.input(name + ".running_mean", type, Role::Constant);
    const ValueId variance = b.input(name + ".running_var", type, Role::Constant);
    const ValueId root = b.unary(ElementFn::Rsqrt, b.add(variance, spec_.epsilon));
    const ValueId slope = b.multiply(weight, root);
    const ValueId offset = b.subtract(bias, b.multiply(mean, slope));
    const wafer::Shape shape = b.shape_of(x);
    const ValueId scaled = b.multiply(x, b.broadcast_in_dim(slope, shape, {1}));
    return b.add(scaled, b.broadcast_in_dim(offset, shape, {1}));
  }

  void classify(ValueId x) {
    const Scope scope(b_, "head");
    x = b_.reduce_mean(x, {2, 3});
    const ValueId logits = linear(b_, x, "fc", spec_.classes);
    if (!options_.train) return b_.output("logits", logits);
    const ValueId labels = b_.input("labels", {DType::I32, {b_.shape_of(x)[0]}});
    b_.output("loss", mean_loss(b_, logits, labels));
  }

  Builder& b_;
  const ResNetSpec& spec_;
  const BuildOptions& options_;
};

}  // namespace

void build_resnet(Builder& b, const ResNetSpec& spec, const BuildOptions& options) {
  ResNetBuilder(b, spec, options).build();
}

}  // namespace wafer::models
