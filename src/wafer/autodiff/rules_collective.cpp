// Gradients of collectives, for a loss that is the sum over the group.
#include "wafer/autodiff/rules.h"

namespace wafer::autodiff {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::ElementFn;
using ir::OpKind;

bool sums(OpGradient& r) {
  if (r.attrs().get<ElementFn>(AttrKey::Fn) == ElementFn::Add) return true;
  r.refuse("a collective reduction by anything but add has no gradient rule");
  return false;
}

Attributes group_of(const OpGradient& r) {
  return {{AttrKey::Group, r.attrs().get<std::string>(AttrKey::Group)},
          {AttrKey::GroupSize, r.attrs().get<int64_t>(AttrKey::GroupSize)}};
}

}  // namespace

void all_reduce(OpGradient& r) {
  if (!sums(r)) return;
  for (size_t i = 0; i < r.op.operands.size(); ++i) {
    if (r.wants(i)) r.give(i, r.b.emit1(OpKind::AllReduce, {r.dy(i)}, r.attrs()));
  }
}

void all_gather(OpGradient& r) {
  Attributes attrs = group_of(r);
  attrs.set(AttrKey::Dim, r.attrs().get<int64_t>(AttrKey::Dim));
  attrs.set(AttrKey::Fn, ElementFn::Add);
  r.give(0, r.b.emit1(OpKind::ReduceScatter, {r.dy()}, attrs));
}

void reduce_scatter(OpGradient& r) {
  if (!sums(r)) return;
  Attributes attrs = group_of(r);
  attrs.set(AttrKey::Dim, r.attrs().get<int64_t>(AttrKey::Dim));
  r.give(0, r.b.emit1(OpKind::AllGather, {r.dy()}, attrs));
}

void all_to_all(OpGradient& r) {
  Attributes attrs = group_of(r);
  attrs.set(AttrKey::SplitDim, r.attrs().get<int64_t>(AttrKey::ConcatDim));
  attrs.set(AttrKey::ConcatDim, r.attrs().get<int64_t>(AttrKey::SplitDim));
  r.give(0, r.b.emit1(OpKind::AllToAll, {r.dy()}, attrs));
}

/// Who received, sends.
void collective_permute(OpGradient& r) {
  Attributes attrs = r.attrs();
  const auto& pairs = r.attrs().get<ir::DimPairs>(AttrKey::Pairs);
  attrs.set(AttrKey::Pairs, ir::DimPairs{pairs.rhs, pairs.lhs});
  r.give(0, r.b.emit1(OpKind::CollectivePermute, {r.dy()}, attrs));
}

}  // namespace wafer::autodiff
