#pragma once

// Reads {key = value, ...} of the text form; not for use outside ir/.

#include <utility>
#include <vector>

#include "wafer/ir/op.h"
#include "wafer/ir/scanner.h"

namespace wafer::ir {

/// A literal as written; its elements are read once the type is known.
struct RawLiteral {
  bool present = false;
  bool list = false;
  bool elided = false;
  Place place;
  std::vector<std::string_view> elements;
};

/// Throws SyntaxError when an element is none of the type.
LiteralRef literal_of(const RawLiteral& raw, const TensorType& type);

class AttrReader {
 public:
  explicit AttrReader(Scanner& in) : in_(in) {}

  /// Reads attributes up to '}' (the '{' has been taken) into `attrs`; a value goes to `literal`.
  void read(Attributes& attrs, RawLiteral& literal);
  /// The name after '@'.
  std::string function_name();

  /// Functions may be named before they are defined: a FunctionId read is the place of the name
  /// here.
  const std::vector<std::pair<std::string, Place>>& references() const { return references_; }

 private:
  AttrValue value(AttrKey key);
  bool boolean();
  Ints integers();
  DimPairs pairs();
  ElementFn element_fn();
  FunctionId function_reference();
  std::vector<FunctionId> function_references();
  void raw_literal(RawLiteral& literal);
  template <typename Item>
  void list(Item item);

  Scanner& in_;
  std::vector<std::pair<std::string, Place>> references_;
};

}  // namespace wafer::ir
