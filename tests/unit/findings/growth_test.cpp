// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "tests/unit/findings/world.hpp"

namespace ullage::findings {
namespace {

// Steps of 100 events each: forward, backward, optimizer and other, 25 events each; load comes first.
World training(std::uint32_t steps) {
  World world;
  world.phases.push_back({PhaseName::load, 0, 0, 0, 100});
  constexpr PhaseName names[] = {PhaseName::forward, PhaseName::backward, PhaseName::optimizer, PhaseName::other};
  for (std::uint32_t step = 1; step <= steps; ++step) {
    for (std::size_t part = 0; part < 4; ++part)
      world.phases.push_back({names[part], step, 1, step * 100 + part * 25, step * 100 + part * 25 + 25});
  }
  world.peak_events = steps * 100 + 25;
  world.add(100 * mib, Category::parameters, "body", "aten::empty", "weights", 5);
  return world;
}

std::uint32_t forward_of(std::uint32_t step) {
  return step * 100 + 5;
}

TEST(Growth, AListThatGetsATensorInEveryStep) {
  World world = training(5);
  for (std::uint32_t step = 1; step <= 5; ++step)
    world.add(2 * mib, Category::unattributed, "", "aten::clone", "", forward_of(step));
  const auto found = world.find("growth");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 6 * mib);  // from the end of step 2 to the end of step 5
  EXPECT_EQ(found[0].title, "memory grows by 2.00 MiB in every step");
  EXPECT_EQ(found[0].level, FindingLevel::problem);
}

TEST(Growth, WarmUpIsNone) {
  World world = training(5);
  for (std::uint32_t step = 1; step <= 3; ++step)
    world.add(20 * mib, Category::unattributed, "", "aten::clone", "", forward_of(step));
  EXPECT_TRUE(world.find("growth").empty());
}

TEST(Growth, AQueueOfTwoIsNone) {
  World world = training(6);
  for (std::uint32_t step = 1; step <= 6; ++step)
    world.add(20 * mib, Category::unattributed, "", "aten::clone", "", forward_of(step),
              step <= 4 ? forward_of(step + 2) + 1 : World::never);
  EXPECT_TRUE(world.find("growth").empty());
}

TEST(Growth, NeedsFourSteps) {
  World world = training(3);
  for (std::uint32_t step = 1; step <= 3; ++step)
    world.add(20 * mib, Category::unattributed, "", "aten::clone", "", forward_of(step));
  EXPECT_TRUE(world.find("growth").empty());
}

TEST(Growth, ABufferThatIsMadeAnewAndLarger) {
  World world = training(5);
  for (std::uint32_t step = 1; step <= 5; ++step)
    world.add(step * 10 * mib, Category::parameters, "memory", "aten::cat", "buffers", forward_of(step),
              step < 5 ? forward_of(step + 1) + 1 : World::never);
  const auto found = world.find("growth");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 30 * mib);
}

TEST(Growth, InEverySecondStep) {
  World world = training(8);
  for (std::uint32_t step = 2; step <= 8; step += 2)
    world.add(2 * mib, Category::unattributed, "", "aten::clone", "", forward_of(step));
  const auto found = world.find("growth");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 6 * mib);
  EXPECT_EQ(found[0].title, "memory grows by 2.00 MiB in every second step");
}

TEST(Growth, TwoSingleTensorsAreNone) {
  World world = training(8);
  world.add(20 * mib, Category::unattributed, "", "aten::clone", "", forward_of(4));
  world.add(20 * mib, Category::unattributed, "", "aten::clone", "", forward_of(6));
  EXPECT_TRUE(world.find("growth").empty());
}

TEST(Growth, OptimizerStateIsNone) {
  World world = training(5);
  for (std::uint32_t step = 1; step <= 5; ++step)
    world.add(20 * mib, Category::optimizer_state, "body", "aten::zeros_like", "exp_avg", forward_of(step));
  EXPECT_TRUE(world.find("growth").empty());
}

TEST(GraphKept, ActivationsThatPileUpAsMuchAsAForwardKeeps) {
  World world = training(5);
  for (std::uint32_t step = 1; step <= 5; ++step) {
    world.add(8 * mib, Category::activations, "body.0", "aten::linear", "held", forward_of(step));
    world.add(8 * mib, Category::activations, "body.1", "aten::gelu", "held", forward_of(step));
  }
  const auto found = world.find("graph_kept");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].evidence[0], "32.00 MiB in 4 blocks by aten::gelu in body.*");
  EXPECT_TRUE(world.find("growth").empty());
}

TEST(OutputsKept, ATensorThatLivesUntilTheNextIsThere) {
  World world = training(4);
  for (std::uint32_t step = 1; step <= 4; ++step)
    world.add(30 * mib, Category::activations, "head", "aten::linear", "held", forward_of(step),
              step < 4 ? forward_of(step + 1) + 30 : World::never);
  const auto found = world.find("outputs_kept");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 30 * mib);
}

TEST(GradientsKept, OfTheStepBefore) {
  World world = training(3);
  world.add(50 * mib, Category::gradients, "body", "aten::linear backward", "", 130);
  const auto found = world.find("gradients_kept");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 50 * mib);
}

TEST(GradientsKept, NotThoseOfThisStep) {
  World world = training(3);
  world.peak_events = 340;
  world.add(50 * mib, Category::gradients, "body", "aten::linear backward", "", 330);
  EXPECT_TRUE(world.find("gradients_kept").empty());
}

}  // namespace
}  // namespace ullage::findings
