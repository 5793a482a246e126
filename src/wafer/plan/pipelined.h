#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/base/rectangle.h"
#include "wafer/base/units.h"

namespace wafer::plan {

/// A kernel of a layer-pipelined plan: PEs of its own, one sample each period, forward and
/// backward. Counts are of one sample.
struct PipelineKernel {
  enum class Kind : uint8_t {
    Product,    ///< with a weight
    Attention,  ///< softmax(q k^T) v
    Nonlinear,  ///< element-wise, its gradient needs the operand
    Norm,
    Sum,    ///< element-wise, its gradient needs no operand; look-ups
    Loss,   ///< with its softmax
    Table,  ///< parameters that no product reads: embeddings, biases
    Fifo,   ///< activations that wait for the backward pass
  };
  std::string name;    ///< "attention/query"
  std::string layer;   ///< "layer", "embeddings", "head"
  int64_t number = 0;  ///< of the layer among its like, from 0
  Kind kind = Kind::Product;

  double rows = 0, inner = 0, columns = 0;  ///< of a product: [rows, inner] x [inner, columns]
  bool predicts = false;                    ///< of a product: only the loss reads its result
  double moved = 0;                         ///< elements that come in or go out by an adapter
  double elements = 0;  ///< of the result; of a loss, its logits; of a FIFO or table, what it holds
  Flops flops;          ///< of products and attention, forward

  int64_t pes = 0;           ///< that it needs at the plan's period
  double weights_of_pe = 0;  ///< of a product or table
  Rectangle at;
};

/// A network laid out on one wafer, all layers at once; samples stream through.
struct Pipeline {
  Cycles period;                  ///< from one sample to the next
  Cycles shortest_period;         ///< what layers pass on takes that long to cross
  int64_t width = 0, height = 0;  ///< PEs of the wafer
  int64_t region = 0;             ///< PEs that kernels may take; FIFOs lie beside them
  double usable_share = 1;        ///< of these, and of the wafer, that was given to rectangles
  int64_t depth = 0;              ///< periods from a sample's entry to its last gradient
  double wire_length = 0;         ///< of solve::wire_length()
  std::vector<PipelineKernel> kernels;  ///< in the order of the pipeline

  /// PEs of kernels that compute, and of FIFOs.
  int64_t kernel_pes() const;
  int64_t fifo_pes() const;
};

std::string_view name_of(PipelineKernel::Kind kind);

/// The problems of a pipeline, one a line: rectangles that overlap, stick out or are too small, a
/// region that is exceeded, no period. None when it holds.
std::vector<std::string> problems_of(const Pipeline& pipeline);

}  // namespace wafer::plan
