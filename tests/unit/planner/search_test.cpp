// SPDX-License-Identifier: Apache-2.0
#include "planner/search.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace ullage::planner {
namespace {

/// Fits while a need is not over 100.
Try needing(std::function<std::uint64_t(std::uint64_t)> need) {
  return [need = std::move(need)](std::uint64_t value) {
    const std::uint64_t bytes = need(value);
    return bytes <= 100 ? Trial::fits : bytes > 150 ? Trial::hopeless : Trial::over;
  };
}

TEST(LargestThatFits, IsTheLastOneOfANeedThatGrows) {
  for (std::uint64_t last = 1; last < 70; ++last) {
    const SearchEnd end = largest_that_fits({1, last}, needing([](std::uint64_t value) { return 3 * value; }));
    EXPECT_EQ(end.value, std::min<std::uint64_t>(last, 33));
    EXPECT_EQ(end.next, last > 33 ? std::optional<std::uint64_t>(34) : std::nullopt);
  }
}

TEST(LargestThatFits, IsNothingWhereTheFirstIsHopeless) {
  EXPECT_EQ(largest_that_fits({1, 1000}, needing([](std::uint64_t) { return 151; })).value, 0U);
}

TEST(LargestThatFits, GoesOnBehindAFirstThatDoesNot) {
  // 1 and 2 leave gaps, 4 does not
  const auto need = [](std::uint64_t value) { return value < 3 ? 120 : 10 * value; };
  const SearchEnd end = largest_that_fits({1, 1000}, needing(need));
  EXPECT_EQ(end.value, 10U);
  EXPECT_EQ(end.next, 11U);
}

TEST(LargestThatFits, LooksAcrossHoles) {
  // what is no multiple of 8 is padded
  const auto need = [](std::uint64_t value) { return value + (value % 8 == 0 ? 0 : 20); };
  EXPECT_EQ(largest_that_fits({1, 1000}, needing(need)).value, 96U);
}

TEST(LargestThatFits, LooksAcrossWideHoles) {
  // as a reserve of memory that longer sequences use better
  const Try tried = [](std::uint64_t value) {
    return value <= 4500 || (value >= 4700 && value <= 4803) ? Trial::fits : Trial::over;
  };
  const SearchEnd end = largest_that_fits({1, 1 << 20}, tried);
  EXPECT_EQ(end.value, 4803U);
  EXPECT_EQ(end.next, 4804U);
}

TEST(LargestThatFits, EndsWhereNoMoreIsAllowed) {
  const Try tried = [](std::uint64_t value) { return value > 20 ? Trial::refused : Trial::fits; };
  const SearchEnd end = largest_that_fits({1, 1000}, tried);
  EXPECT_EQ(end.value, 20U);
  EXPECT_EQ(end.next, 21U);
}

TEST(LargestThatFits, BeginsWhereItIsTold) {
  std::set<std::uint64_t> seen;
  const Try tried = [&](std::uint64_t value) {
    EXPECT_TRUE(seen.insert(value).second) << value << " is tried twice";
    return value > 333 ? Trial::over : Trial::fits;
  };
  EXPECT_EQ(largest_that_fits({300, 1000}, tried).value, 333U);
  EXPECT_GE(*seen.begin(), 300U);
}

TEST(SmallestThatFits, IsTheFirstOneOfANeedThatShrinks) {
  const auto need = [](std::uint64_t value) { return 900 / value; };
  const SearchEnd end = smallest_that_fits({1, 1000}, needing(need));
  EXPECT_EQ(end.value, 9U);
  EXPECT_EQ(end.next, 8U);
  EXPECT_EQ(smallest_that_fits({1, 8}, needing(need)).value, 0U);
  EXPECT_EQ(smallest_that_fits({1, 9}, needing(need)).value, 9U);
  EXPECT_EQ(smallest_that_fits({1, 9}, needing([](std::uint64_t) { return 1; })).next, std::nullopt);
}

RC_GTEST_PROP(Searches, GiveWhatFitsBesideWhatDoesNot, ()) {
  const auto last = *rc::gen::inRange<std::uint64_t>(1, 200);
  const auto fitting = *rc::gen::container<std::vector<bool>>(last + 1, rc::gen::arbitrary<bool>());
  const Try tried = [&](std::uint64_t value) { return fitting[value] ? Trial::fits : Trial::over; };
  for (const auto& end : {largest_that_fits({1, last, 3}, tried), smallest_that_fits({1, last, 3}, tried)}) {
    if (end.value == 0) continue;
    RC_ASSERT(fitting[end.value]);
    if (end.next) RC_ASSERT(!fitting[*end.next]);
  }
}

}  // namespace
}  // namespace ullage::planner
