#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wafer/compile/profile.h"

namespace wafer::compile {

/// Which matrix of which step of a layer made something: nobody's where layer is null.
struct Maker {
  static constexpr size_t NoProduct = SIZE_MAX;

  const LayerProfile* layer = nullptr;
  size_t product = NoProduct;  ///< of the layer's steps
  size_t column = 0;           ///< of the product's matrices
};

/// An activation: a tensor in memory, or element-wise ops on such that have not run yet. Views
/// share one; null stands for what depends on parameters and constants only.
struct Activation {
  double elements = 0;
  bool shared = false;   ///< split over tensor ranks
  bool pending = false;  ///< ops on `sources` that have not run
  bool linear = true;    ///< their gradient needs no operand
  bool kept = false;     ///< counted as kept for the backward pass
  Maker maker;
  std::vector<std::shared_ptr<Activation>> sources;
};
using ActivationPtr = std::shared_ptr<Activation>;

ActivationPtr activation(double elements, bool shared);
/// Elements of a value, and the length of its dimension d.
double count(const ir::Function& f, ir::ValueId v);
double dim(const ir::Function& f, ir::ValueId v, size_t d);

/// Follows the ops of a function and writes what a GPU does for them into a layer: element-wise ops
/// wait for who reads their result and run as one pass; biases are added in products; products of
/// one operand run as one.
class Follower {
 public:
  Follower(const ir::Graph& graph, LayerProfile& layer) : graph_(graph), layer_(layer) {}

  void follow(const ir::Function& f, const ir::Op& op, std::vector<ActivationPtr>& values);
  /// Runs what is pending, as one pass: its operands are read, its result is written.
  void finish(const ActivationPtr& t, const std::string& name);

 private:
  using Operands = std::vector<ActivationPtr>;

  Operands run(const ir::Function& f, const Operands& inputs);
  ActivationPtr result_of(const ir::Function& f, const ir::Op& op, const Operands& operands);

  // Passes over memory: follower.cpp.
  ActivationPtr pending(const Operands& operands, bool linear, double elements);
  ActivationPtr elementwise(const ir::Function& f, const ir::Op& op, const Operands& operands);
  ActivationPtr part(const ActivationPtr& whole, double elements, const ir::Op& op);
  ActivationPtr norm(const ir::Op& op, const ActivationPtr& x, PassStep::Kind kind);
  ActivationPtr loss(const ir::Op& op, const ActivationPtr& logits, double rows);
  ActivationPtr lookup(const ir::Op& op, const Operands& operands, double elements);
  ActivationPtr pass(const ir::Function& f, const ir::Op& op, const Operands& operands);
  void keep(const ActivationPtr& t);

  // Products and attention: follower_products.cpp.
  ActivationPtr attention(const ir::Function& f, const ir::Op& op, const Operands& operands);
  ActivationPtr dot(const ir::Function& f, const ir::Op& op, const Operands& operands);
  ActivationPtr local(const ir::Op& op, const plan::Product& shape, const Operands& operands);
  ActivationPtr weighted(const ir::Op& op, const plan::Product& shape, const ActivationPtr& x);
  ActivationPtr convolution(const ir::Function& f, const ir::Op& op, const Operands& operands);
  ProductStep* product_of(const ActivationPtr& x, const plan::Product& shape);
  bool is_product(const ActivationPtr& t) const;

  const ir::Graph& graph_;
  LayerProfile& layer_;
  std::map<const Activation*, size_t> readers_;
  std::vector<ActivationPtr> inputs_;
};

/// The name of an op's step: its scope, or its kind.
std::string step_name(const ir::Op& op);

}  // namespace wafer::compile
