#include "wafer/base/id.h"

#include <gtest/gtest.h>

#include <concepts>

namespace wafer {
namespace {

using NodeId = Id<struct NodeTag>;
using EdgeId = Id<struct EdgeTag>;

TEST(Id, is_invalid_until_it_is_given_an_index) {
  EXPECT_FALSE(NodeId().valid());
  EXPECT_TRUE(NodeId(0).valid());
}

TEST(Id, of_two_kinds_do_not_mix) {
  static_assert(!std::convertible_to<EdgeId, NodeId>);
  static_assert(!std::convertible_to<size_t, NodeId>);
  static_assert(!std::equality_comparable_with<EdgeId, NodeId>);
}

TEST(Id, is_ordered_by_index) {
  EXPECT_LT(NodeId(1), NodeId(2));
  EXPECT_EQ(NodeId(2), NodeId(2));
}

}  // namespace
}  // namespace wafer
