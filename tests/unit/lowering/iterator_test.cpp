// SPDX-License-Identifier: Apache-2.0
// Where the elements of a pointwise result lie. The strides are worked out by hand after
// TensorIterator::reorder_dimensions.
#include "lowering/operators/iterator.hpp"
#include "tests/unit/lowering/world.hpp"

#include <gtest/gtest.h>

namespace ullage::lowering {
namespace {

struct Strides {
  Extents sizes, strides;
};

class ResultLayout : public ::testing::Test {
 protected:
  Layout of(const std::vector<Strides>& inputs) {
    std::vector<Tensor> tensors;
    for (const auto& [sizes, strides] : inputs) tensors.push_back(world_.context.make(sizes, strides, DType::fp32));
    std::vector<const Tensor*> pointers;
    for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
    return result_layout(pointers);
  }
  World world_;
};

TEST_F(ResultLayout, ContiguousInputsGiveAContiguousResult) {
  EXPECT_EQ(of({{{2, 3}, {3, 1}}, {{2, 3}, {3, 1}}}).strides, (Extents{3, 1}));
}

TEST_F(ResultLayout, InputsOfTheSameOrderKeepIt) {
  EXPECT_EQ(of({{{2, 3}, {1, 2}}, {{2, 3}, {1, 2}}}).strides, (Extents{1, 2}));
  EXPECT_EQ(of({{{2, 3}, {1, 2}}}).strides, (Extents{1, 2}));
}

TEST_F(ResultLayout, TheFirstInputDecides) {
  EXPECT_EQ(of({{{2, 3}, {1, 2}}, {{2, 3}, {3, 1}}}).strides, (Extents{1, 2}));
  EXPECT_EQ(of({{{2, 3}, {3, 1}}, {{2, 3}, {1, 2}}}).strides, (Extents{3, 1}));
}

TEST_F(ResultLayout, BroadcastDimensionsHaveNoSay) {
  const Layout made = of({{{4, 1, 3}, {3, 3, 1}}, {{5, 1}, {1, 1}}});
  EXPECT_EQ(made.sizes, (Extents{4, 5, 3}));
  EXPECT_EQ(made.strides, (Extents{15, 3, 1}));
}

// query * cos: heads that are a view of a projection stay one
TEST_F(ResultLayout, HeadsTimesARotationStayInTheOrderOfTheTokens) {
  const Layout made = of({{{2, 4, 8, 16}, {512, 16, 64, 1}}, {{2, 1, 8, 16}, {128, 128, 16, 1}}});
  EXPECT_EQ(made.sizes, (Extents{2, 4, 8, 16}));
  EXPECT_EQ(made.strides, (Extents{512, 16, 64, 1}));
}

TEST_F(ResultLayout, GapsAreClosed) {
  EXPECT_EQ(of({{{2, 3}, {8, 1}}}).strides, (Extents{3, 1}));
  EXPECT_EQ(of({{{2, 3}, {1, 5}}}).strides, (Extents{1, 2}));
}

TEST(PreservedStrides, TheOrderStaysAndGapsGo) {
  World world;
  const auto preserved = [&](const Extents& sizes, const Extents& strides) {
    return preserved_strides(*world.context.make(sizes, strides, DType::fp32));
  };
  EXPECT_EQ(preserved({2, 3}, {1, 2}), (Extents{1, 2}));
  EXPECT_EQ(preserved({2, 3}, {8, 1}), (Extents{3, 1}));
  EXPECT_EQ(preserved({2, 3}, {1, 8}), (Extents{1, 2}));
  EXPECT_EQ(preserved({2, 3}, {0, 1}), (Extents{3, 1}));
}

}  // namespace
}  // namespace ullage::lowering
