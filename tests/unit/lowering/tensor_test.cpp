// SPDX-License-Identifier: Apache-2.0
// Strides: what PyTorch's view() gives for the same sizes and strides, and when a tensor is dense.
#include "lowering/tensor.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace ullage::lowering {
namespace {

struct Laid : TensorBody {
  Laid(const Extents& its_sizes, const Extents& its_strides) {
    sizes = its_sizes;
    strides = its_strides;
  }
};

std::optional<Extents> viewed(const Laid& tensor, const Extents& sizes) {
  Extents strides;
  if (!view_strides(tensor, sizes, strides)) return std::nullopt;
  return strides;
}

TEST(ViewStrides, DimensionsThatFollowEachOtherJoinAndSplit) {
  EXPECT_EQ(viewed({{2, 3, 4}, {12, 4, 1}}, {6, 4}), (Extents{4, 1}));
  EXPECT_EQ(viewed({{2, 3, 4}, {12, 4, 1}}, {24}), (Extents{1}));
  EXPECT_EQ(viewed({{4, 6}, {6, 1}}, {2, 2, 2, 3}), (Extents{12, 6, 3, 1}));
}

TEST(ViewStrides, TransposedDimensionsStayApart) {
  EXPECT_EQ(viewed({{3, 2}, {1, 3}}, {6}), std::nullopt);
  EXPECT_EQ(viewed({{2, 3, 4}, {4, 8, 1}}, {2, 12}), std::nullopt);
  EXPECT_EQ(viewed({{2, 3, 4}, {4, 8, 1}}, {2, 3, 2, 2}), (Extents{4, 8, 2, 1}));
}

TEST(ViewStrides, HeadsOfAProjectionAndBack) {
  const Laid projected({2, 8, 64}, {512, 64, 1});
  EXPECT_EQ(viewed(projected, {2, 8, 4, 16}), (Extents{512, 64, 16, 1}));
  EXPECT_EQ(viewed({{2, 4, 8, 16}, {512, 16, 64, 1}}, {2, 32, 16}), std::nullopt) << "heads first: a copy is needed";
}

TEST(ViewStrides, OneElementMayLieAnywhere) {
  EXPECT_EQ(viewed({{1, 5}, {99, 1}}, {5}), (Extents{1}));
  EXPECT_EQ(viewed({{5, 1}, {1, 99}}, {5}), (Extents{1}));
}

TEST(ViewStrides, WhatIsExpandedIsNotOneRun) {
  EXPECT_EQ(viewed({{3, 4}, {0, 1}}, {12}), std::nullopt);
  EXPECT_EQ(viewed({{3, 4}, {0, 1}}, {3, 2, 2}), (Extents{0, 2, 1}));
}

TEST(Dense, AnyOrderOfTheDimensionsWithoutGaps) {
  EXPECT_TRUE(is_dense(Laid({2, 3}, {3, 1})));
  EXPECT_TRUE(is_dense(Laid({2, 3}, {1, 2})));
  EXPECT_TRUE(is_dense(Laid({2, 4, 8, 16}, {512, 16, 64, 1})));
  EXPECT_TRUE(is_dense(Laid({2, 1, 3}, {3, 77, 1}))) << "the stride of one element says nothing";
  EXPECT_TRUE(is_dense(Laid({}, {})));
}

TEST(Dense, NotWithGapsOrTwice) {
  EXPECT_FALSE(is_dense(Laid({2, 3}, {8, 1})));
  EXPECT_FALSE(is_dense(Laid({2, 3}, {0, 1})));
  EXPECT_FALSE(is_dense(Laid({2, 3}, {6, 2})));
}

TEST(Contiguous, IsRowAfterRow) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Extents{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Extents{4, 4, 1})) << "an empty dimension counts as one";
  EXPECT_TRUE(is_contiguous(Laid({2, 1, 3}, {3, 77, 1})));
  EXPECT_FALSE(is_contiguous(Laid({2, 3}, {1, 2})));
}

TEST(Extents, InsertAndErase) {
  Extents sizes{2, 4};
  sizes.insert(1, 3);
  EXPECT_EQ(sizes, (Extents{2, 3, 4}));
  EXPECT_EQ(sizes.product(), 24);
  sizes.erase(0);
  EXPECT_EQ(sizes, (Extents{3, 4}));
  EXPECT_EQ(Extents{}.product(), 1);
}

}  // namespace
}  // namespace ullage::lowering
