#pragma once

#include <optional>
#include <vector>

#include "wafer/ir/graph.h"

namespace wafer::compile {

/// The ops of main without constants, which are read by content wherever they stand.
struct Sequence {
  std::vector<uint32_t> ops;      ///< indices into main.ops
  std::vector<uint64_t> hashes;   ///< structure, of each
  std::vector<int64_t> position;  ///< of each op of main in `ops`, -1 for a constant
};

Sequence sequence_of(const ir::Function& main);

/// ops [start, start + period * times) of the sequence repeat with `period`.
struct Run {
  size_t start = 0;
  size_t period = 0;
  size_t times = 0;
  size_t covered() const { return period * times; }
};

/// Where an operand of an op in one instance comes from.
struct Wire {
  enum class Kind : uint8_t { Constant, Inside, Outside } kind = Kind::Outside;
  size_t op = 0;           ///< Inside: position in the period; Constant: index in main.ops
  size_t result = 0;       ///< Inside: which result of it
  ir::ValueId value = {};  ///< Outside
};

/// Reads how the ops of a run's instances are wired.
class Matcher {
 public:
  Matcher(const ir::Function& f, const Sequence& s, const Run& run) : f_(f), s_(s), run_(run) {}

  const ir::Op& op(size_t instance, size_t i) const {
    return f_.ops[s_.ops[run_.start + instance * run_.period + i]];
  }
  Wire wire(size_t instance, ir::ValueId v) const;
  /// Instances a and b wire alike: what is inside is inside in both, constants are equal.
  bool alike(size_t a, size_t b) const;

 private:
  bool alike(const Wire& x, const Wire& y) const;

  const ir::Function& f_;
  const Sequence& s_;
  const Run& run_;
};

/// The run of repeats that covers most of the sequence, aligned to where least crosses between two
/// layers and holding a product; nothing when no layer repeats.
std::optional<Run> best_run(const ir::Function& main, const Sequence& sequence);

}  // namespace wafer::compile
