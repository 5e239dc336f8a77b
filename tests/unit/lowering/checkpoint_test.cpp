// SPDX-License-Identifier: Apache-2.0
#include "lowering/checkpoint.hpp"

#include "lowering/operators.hpp"
#include "tests/unit/lowering/world.hpp"

#include <gtest/gtest.h>

namespace ullage::lowering {
namespace {

constexpr std::int64_t width = 1000;
constexpr std::uint64_t bytes = 4 * width;

/// One that saves its input, one that saves its result, and one that saves nothing.
Tensor region(Context& c, const Tensor& input) {
  return mul_number(c, relu(c, silu(c, input)));
}

class Checkpoint : public ::testing::Test {
 protected:
  World world_;
  Context& context_ = world_.context;
  Tensor leaf_ = world_.leaf({width});
  /// The region's input is computed too, so that its life can be seen.
  Tensor input_ = neg(context_, leaf_);
};

TEST_F(Checkpoint, WithoutOneTheSavedTensorsLive) {
  const Tensor result = region(context_, input_);
  EXPECT_EQ(world_.live_bytes(), 4 * bytes) << "leaf, input, what relu gave, the result";
}

TEST_F(Checkpoint, OnlyTheInputAndTheResultLive) {
  const Tensor result = checkpointed(context_, input_, region);
  EXPECT_EQ(world_.live_bytes(), 3 * bytes);
  input_ = Tensor();
  EXPECT_EQ(world_.live_bytes(), 3 * bytes) << "the region owns its input";
  EXPECT_EQ(world_.runs_of("aten::silu", true), 0);
}

TEST_F(Checkpoint, TheBackwardPassRunsItAgainUpToTheLastSavedTensor) {
  Tensor result = checkpointed(context_, input_, region);
  input_ = Tensor();
  run_backward(context_, result);
  EXPECT_EQ(world_.runs_of("aten::silu", true), 1);
  EXPECT_EQ(world_.runs_of("aten::relu", true), 1);
  EXPECT_EQ(world_.runs_of("aten::mul", true), 0) << "nothing behind it is needed";
  result = Tensor();
  EXPECT_EQ(world_.live_bytes(), 2 * bytes) << "the leaf and its gradient";
}

TEST_F(Checkpoint, EachRegionIsRunAgainWhenItsTurnComes) {
  Tensor result = checkpointed(context_, checkpointed(context_, input_, region), region);
  input_ = Tensor();
  run_backward(context_, result);
  EXPECT_EQ(world_.runs_of("aten::silu", true), 2);
  EXPECT_EQ(world_.runs_of("aten::silu", false), 2);
}

TEST_F(Checkpoint, WithoutGradientsNothingIsKept) {
  const GradientMode off(context_, false);
  const Tensor plain = context_.make({width}, DType::fp32);
  const std::uint64_t before = world_.live_bytes();
  { const Tensor result = checkpointed(context_, plain, region); }
  EXPECT_EQ(world_.live_bytes(), before);
}

}  // namespace
}  // namespace ullage::lowering
