#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wafer::plan {

/// Which elements of a weight are zero: a share of them, lying anywhere (unstructured), or all but
/// N of every M neighbours (N:M).
struct Sparsity {
  double zeros = 0;        ///< share of the elements, in [0, 1)
  int64_t neighbours = 0;  ///< M; 0 where unstructured

  Sparsity() = default;
  /// Unstructured. Not explicit: a number is the share of zeros wherever a sparsity is expected.
  Sparsity(double share) : zeros(share) {}  // NOLINT(google-explicit-constructor)
  /// `kept` of every `of` neighbours are no zeros.
  static Sparsity pattern(int64_t kept, int64_t of);

  bool dense() const { return zeros == 0; }
  bool structured() const { return neighbours > 0; }
  double density() const { return 1 - zeros; }
  /// "0.75", or "2:4".
  std::string text() const;
  friend bool operator==(const Sparsity&, const Sparsity&) = default;

  /// Bytes that say where a non-zero lies. Unstructured: a 16-bit index beside each value
  /// (Cerebras SDK, indexed wavelets: 16-bit index, 16-bit value). N:M: its place among M, packed
  /// in log2(M) bits, as NVIDIA's Ampere whitepaper has it for 2:4; assumed for other machines.
  double index_bytes() const;
  /// Bytes on the wire for each element of the dense tensor, of `size` bytes; never more than
  /// dense.
  double wire_bytes(double size) const;
  /// The density below which wire_bytes() is less than dense.
  double break_even_density(double size) const { return size / (size + index_bytes()); }
};

/// "dense", "0.75", "75%" or "2:4"; nothing for what is no sparsity, or leaves no element.
std::optional<Sparsity> sparsity_named(std::string_view text);

/// A sparsity of some weights alone. `pattern` has '*' and '?', and is held against a kernel
/// ("mlp/up"), its layer and it ("layer/mlp/up"), and the names of its parameters.
struct WeightSparsity {
  std::string pattern;
  Sparsity sparsity;
  friend bool operator==(const WeightSparsity&, const WeightSparsity&) = default;
};

/// Whether `pattern`, with '*' for any text and '?' for any character, is `text`.
bool matches(std::string_view pattern, std::string_view text);

/// Weights of one tensor, or of like tensors of several layers, that are alike in their zeros.
struct SparsePart {
  double share = 1;  ///< of the elements
  Sparsity sparsity;
};
/// Parts that make up a whole; empty where all of it is dense.
using SparseParts = std::vector<SparsePart>;

/// Share of the elements that are not zero.
double density_of(const SparseParts& parts);
/// "" of dense weights, "0.75", or "0.5 of them 2:4, 0.5 dense".
std::string text_of(const SparseParts& parts);

}  // namespace wafer::plan
