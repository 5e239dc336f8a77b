// SPDX-License-Identifier: Apache-2.0
// Which devices run the same program.
#include "lowering/device.hpp"
#include "lowering/operators.hpp"
#include "tests/unit/lowering/world.hpp"

#include <gtest/gtest.h>

namespace ullage::lowering {
namespace {

std::int64_t blocks_at_most(const DeviceFacts& device, const QuestionSizes& sizes) {
  return std::min(device.multiprocessors, sizes[0]);
}

DeviceFacts with_multiprocessors(std::int64_t count) {
  DeviceFacts facts;
  facts.multiprocessors = count;
  return facts;
}

TEST(DeviceAnswers, TellDevicesApartByWhatTheyWereAsked) {
  const DeviceFacts device = with_multiprocessors(108);
  DeviceAnswers answers;
  EXPECT_TRUE(answers.alike(device, with_multiprocessors(132)));
  EXPECT_EQ(answers.ask(device, blocks_at_most, {64}), 64);
  EXPECT_TRUE(answers.alike(device, with_multiprocessors(132)));
  EXPECT_TRUE(answers.alike(device, with_multiprocessors(64)));
  EXPECT_FALSE(answers.alike(device, with_multiprocessors(63)));
  EXPECT_EQ(answers.ask(device, blocks_at_most, {120}), 108);
  EXPECT_FALSE(answers.alike(device, with_multiprocessors(132)));
}

TEST(DeviceAnswers, AreAskedForOnceAndOfOneArchitecture) {
  DeviceAnswers answers;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answers.ask({}, blocks_at_most, {5}), 5);
  EXPECT_EQ(answers.count(), 1U);
  DeviceFacts other;
  other.compute_major = 9;
  EXPECT_FALSE(answers.alike({}, other));
  other = {};
  other.shared_memory_per_block = 101376;
  EXPECT_FALSE(answers.alike({}, other));
}

std::vector<std::uint64_t> requests_of_a_sum(World& world) {
  (void)sum_raw(world.context, world.context.make({1 << 20, 8}, DType::fp32), 1, false);
  return world.requests();
}

TEST(DeviceAnswers, OfASumSayWhetherItsScratchMemoryIsTheSame) {
  const DeviceFacts one = with_multiprocessors(108);
  World world(one);
  const auto requests = requests_of_a_sum(world);
  unsigned same = 0, different = 0;
  for (std::int64_t count = 1; count < 220; ++count) {
    World other(with_multiprocessors(count));
    const bool alike = world.context.answers.alike(one, other.context.device);
    EXPECT_EQ(alike, requests_of_a_sum(other) == requests) << count;
    (alike ? same : different) += 1;
  }
  EXPECT_GT(same, 0U);
  EXPECT_GT(different, 0U);
}

}  // namespace
}  // namespace ullage::lowering
