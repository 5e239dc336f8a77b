// SPDX-License-Identifier: Apache-2.0
#include "planner/batches.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace ullage::planner {
namespace {

using Lengths = std::vector<std::uint32_t>;

const BatchingCost& way(const Batches& batches, Batching batching) {
  return batches.ways[static_cast<std::size_t>(batching)];
}

TEST(Batches, PaddingToTheMaximumIsOneLessTheMeanOverIt) {
  Lengths lengths;
  for (int i = 0; i < 500; ++i) {
    lengths.push_back(100);
    lengths.push_back(500);
  }
  const auto batches = plan_batches(lengths, {4, 1024, 1, 0}).value();
  EXPECT_EQ(batches.lengths.mean, 300);
  EXPECT_EQ(way(batches, Batching::maximum).padding_share(), 1 - 300.0 / 1024);
  EXPECT_EQ(way(batches, Batching::maximum).tokens, 1000u * 1024);
  EXPECT_EQ(way(batches, Batching::maximum).batches, 250u);
  EXPECT_EQ(way(batches, Batching::maximum).largest.tokens(), 4096u);
  EXPECT_EQ(way(batches, Batching::sorted).padding, 0u);
  EXPECT_EQ(way(batches, Batching::bucketed).tokens, 1000u * 500);
}

TEST(Batches, WorkedByHand) {
  const auto batches = plan_batches(Lengths{7, 1, 5, 3, 2}, {2, {}, 2, 0}).value();
  const BatchingCost& sorted = way(batches, Batching::sorted);  // 7 5 | 3 2 | 1
  EXPECT_EQ(sorted.tokens, 14u + 6 + 1);
  EXPECT_EQ(sorted.padding, 3u);
  EXPECT_EQ(sorted.batches, 3u);
  EXPECT_EQ(sorted.largest.sequences, 2u);
  EXPECT_EQ(sorted.largest.length, 7u);
  const BatchingCost& bucketed = way(batches, Batching::bucketed);  // 7 5 3: 7 7 | 7; 2 1: 2 2
  EXPECT_EQ(bucketed.tokens, 14u + 7 + 4);
  EXPECT_EQ(bucketed.batches, 3u);
  EXPECT_EQ(way(batches, Batching::maximum).tokens, 5u * 7);
}

TEST(Batches, StatisticsAreOfTheUncutLengths) {
  Lengths lengths(100);
  std::iota(lengths.begin(), lengths.end(), 1);
  const auto batches = plan_batches(lengths, {8, 60, 4, 0}).value();
  EXPECT_EQ(batches.lengths.sequences, 100u);
  EXPECT_EQ(batches.lengths.mean, 50.5);
  EXPECT_EQ(batches.lengths.median, 50.5);
  EXPECT_EQ(batches.lengths.p90, 90u);
  EXPECT_EQ(batches.lengths.p99, 99u);
  EXPECT_EQ(batches.lengths.longest, 100u);
  EXPECT_EQ(batches.truncated, 40u);
  EXPECT_EQ(batches.cut, 820u);
  EXPECT_EQ(batches.tokens, 5050u - 820);
  EXPECT_EQ(plan_batches(Lengths{9, 4, 6}, {}).value().lengths.median, 6);
  EXPECT_EQ(plan_batches(Lengths{5}, {}).value().lengths.p90, 5u);
}

TEST(Batches, TheRandomOrderIsTheSameEverywhere) {
  Lengths lengths(1000);
  std::iota(lengths.begin(), lengths.end(), 1);
  const auto tokens = [&](std::uint64_t seed) {
    return way(plan_batches(lengths, {8, {}, 8, seed}).value(), Batching::random).tokens;
  };
  EXPECT_EQ(tokens(0), tokens(0));
  EXPECT_NE(tokens(0), tokens(1));
  // The longest of 8 of 1000 is 8/9 of 1001 on average.
  EXPECT_NEAR(static_cast<double>(tokens(0)), 1000 * 1001 * 8.0 / 9, 25000);
}

TEST(Batches, WhatCannotBeBatchedIsAnError) {
  EXPECT_EQ(plan_batches({}, {}).error().kind, ErrorKind::bad_input);
  EXPECT_EQ(plan_batches(Lengths{0, 0}, {}).error().kind, ErrorKind::bad_input);
  EXPECT_EQ(plan_batches(Lengths{longest_sequence + 1}, {}).error().kind, ErrorKind::bad_input);
  EXPECT_EQ(plan_batches(Lengths{1}, {0, {}, 1, 0}).error().kind, ErrorKind::usage);
  EXPECT_EQ(plan_batches(Lengths{1}, {1, 0, 1, 0}).error().kind, ErrorKind::usage);
  EXPECT_EQ(plan_batches(Lengths{1}, {1, {}, 0, 0}).error().kind, ErrorKind::usage);
}

TEST(Batches, TheLargestSumsDoNotOverflow) {
  const Lengths lengths(1000, longest_sequence);
  const auto batches = plan_batches(lengths, {1'000'000, {}, 3, 0}).value();
  for (const BatchingCost& cost : batches.ways) EXPECT_EQ(cost.tokens, 1000ull * longest_sequence);
  EXPECT_EQ(batches.lengths.mean, longest_sequence);
}

struct World {
  Lengths lengths;
  BatchOptions options;
};

World any_world() {
  World world;
  world.lengths = *rc::gen::nonEmpty(rc::gen::container<Lengths>(rc::gen::inRange<std::uint32_t>(0, 3000)));
  world.lengths.push_back(*rc::gen::inRange<std::uint32_t>(1, 3000));
  world.options.micro_batch = *rc::gen::inRange<std::uint64_t>(1, 20);
  world.options.buckets = *rc::gen::inRange<std::uint64_t>(1, 20);
  world.options.seed = *rc::gen::arbitrary<std::uint64_t>();
  if (*rc::gen::arbitrary<bool>()) world.options.max_length = *rc::gen::inRange<std::uint32_t>(1, 4000);
  return world;
}

TEST(BatchesProperty, NoWayComputesLessThanTheRealTokensOrMoreThanTheMaximum) {
  rc::check([] {
    const World world = any_world();
    const auto batches = plan_batches(world.lengths, world.options).value();
    RC_ASSERT(batches.tokens + batches.cut == batches.lengths.tokens);
    for (const BatchingCost& cost : batches.ways) {
      RC_ASSERT(cost.tokens == batches.tokens + cost.padding);
      RC_ASSERT(cost.tokens <= way(batches, Batching::maximum).tokens);
      RC_ASSERT(cost.padding_share() >= 0 && cost.padding_share() < 1);
      RC_ASSERT(cost.largest.sequences <= world.options.micro_batch);
      RC_ASSERT(cost.largest.tokens() * cost.batches >= cost.tokens);
    }
  });
}

/// With whole batches sorting is the best that there is; a smaller last batch can cost at most its missing sequences.
TEST(BatchesProperty, SortedIsNotAboveRandom) {
  rc::check([] {
    const World world = any_world();
    const auto batches = plan_batches(world.lengths, world.options).value();
    const std::uint64_t rest = world.lengths.size() % world.options.micro_batch;
    const std::uint64_t missing = rest == 0 ? 0 : world.options.micro_batch - rest;
    const std::uint64_t longest = way(batches, Batching::sorted).largest.length;
    RC_ASSERT(way(batches, Batching::sorted).tokens <= way(batches, Batching::random).tokens + missing * longest);
    RC_ASSERT(way(batches, Batching::sorted).batches == way(batches, Batching::random).batches);
  });
}

TEST(BatchesProperty, TwiceTheBucketsAreNotWorse) {
  rc::check([] {
    World world = any_world();
    while (world.lengths.size() % (2 * world.options.buckets) != 0) world.lengths.push_back(1);
    const auto cost = [&](std::uint64_t buckets) {
      world.options.buckets = buckets;
      return way(plan_batches(world.lengths, world.options).value(), Batching::bucketed).tokens;
    };
    const std::uint64_t buckets = world.options.buckets;
    RC_ASSERT(cost(2 * buckets) <= cost(buckets));
  });
}

TEST(BatchesProperty, TheOrderOfTheFileMattersOnlyToTheRandomOne) {
  rc::check([] {
    World world = any_world();
    const auto before = plan_batches(world.lengths, world.options).value();
    std::ranges::reverse(world.lengths);
    const auto after = plan_batches(world.lengths, world.options).value();
    for (const Batching batching : {Batching::maximum, Batching::sorted, Batching::bucketed})
      RC_ASSERT(way(before, batching).tokens == way(after, batching).tokens);
  });
}

}  // namespace
}  // namespace ullage::planner
