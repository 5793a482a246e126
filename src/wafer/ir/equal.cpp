#include <algorithm>

#include "wafer/ir/text.h"
#include "wafer/ir/text_common.h"

namespace wafer::ir {
namespace {

/// Functions, seen through the numbering of each so that only the order of definition counts.
class Comparison {
 public:
  Comparison(const Function& a, const Function& b)
      : a_(a), b_(b), a_numbers_(numbering(a)), b_numbers_(numbering(b)) {}

  bool equal() const {
    return a_.name == b_.name && all(a_.inputs, b_.inputs) && all(a_.ops, b_.ops) &&
           all(a_.outputs, b_.outputs);
  }

 private:
  template <typename T>
  bool all(const std::vector<T>& a, const std::vector<T>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const T& x, const T& y) { return same(x, y); });
  }
  bool same(ValueId x, ValueId y) const {
    return a_numbers_.at(x.index) == b_numbers_.at(y.index) && a_.type_of(x) == b_.type_of(y);
  }
  bool same(const Input& x, const Input& y) const {
    return x.name == y.name && x.role == y.role && x.frozen == y.frozen &&
           x.donated_output == y.donated_output && same(x.value, y.value);
  }
  bool same(const Output& x, const Output& y) const {
    return x.name == y.name && same(x.value, y.value);
  }
  bool same(const Op& x, const Op& y) const {
    return x.kind == y.kind && x.phase == y.phase && x.layer == y.layer && x.scope == y.scope &&
           x.location == y.location && x.attrs == y.attrs && all(x.operands, y.operands) &&
           all(x.results, y.results);
  }

  const Function& a_;
  const Function& b_;
  std::vector<uint32_t> a_numbers_;
  std::vector<uint32_t> b_numbers_;
};

}  // namespace

bool equal(const Graph& a, const Graph& b) {
  return a.name == b.name && a.main == b.main &&
         std::equal(a.functions.begin(), a.functions.end(), b.functions.begin(), b.functions.end(),
                    [](const Function& x, const Function& y) { return Comparison(x, y).equal(); });
}

}  // namespace wafer::ir
