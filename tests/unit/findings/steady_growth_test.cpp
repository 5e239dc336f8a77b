// SPDX-License-Identifier: Apache-2.0
#include "findings/steady_growth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "findings/trend.hpp"

namespace ullage::findings {
namespace {

constexpr double mib = 1 << 20;

std::vector<double> series(std::size_t steps, double (*at)(std::size_t)) {
  std::vector<double> values;
  for (std::size_t i = 0; i < steps; ++i) values.push_back(100 * mib + at(i));
  return values;
}

TEST(Trend, TheTestOfMannAndKendall) {
  const std::vector<double> up{1, 2, 3, 4, 5}, down{5, 4, 3, 2, 1}, flat{3, 3, 3, 3}, few{1, 2, 3};
  // S = 10, variance 5*4*15/18 = 16.67: z = 9 / 4.082 = 2.204
  EXPECT_NEAR(confidence_of_rise(up), 0.98625, 1e-4);
  EXPECT_NEAR(confidence_of_rise(down), 1 - 0.98625, 1e-4);
  EXPECT_EQ(confidence_of_rise(flat), 0.5);
  EXPECT_EQ(confidence_of_rise(few), 0);
}

TEST(Trend, AnOutlierDoesNotBendTheSlope) {
  const std::vector<double> values{0, 2, 4, 900, 8, 10, 12};
  EXPECT_EQ(median_slope(values), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
}

TEST(SteadyGrowth, InEveryStep) {
  const auto found = steady_growth(series(20, [](std::size_t i) { return static_cast<double>(i) * 3 * mib; }));
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->bytes_per_step, 3 * mib);
  EXPECT_GT(found->confidence, 0.9999);
  EXPECT_EQ(found->first, 2U);
  EXPECT_EQ(found->rises, 17U);
}

TEST(SteadyGrowth, InEverySecondStep) {
  const auto found =
      steady_growth(series(12, [](std::size_t i) { return std::floor(static_cast<double>(i) / 2) * 4 * mib; }));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_step, 2 * mib, 0.3 * mib);
}

TEST(SteadyGrowth, WarmUpASingleJumpAndAFullBufferAreNone) {
  EXPECT_FALSE(
      steady_growth(series(40, [](std::size_t i) { return i < 4 ? static_cast<double>(i) * 50 * mib : 200 * mib; })));
  EXPECT_FALSE(steady_growth(series(40, [](std::size_t i) { return i < 20 ? 0 : 50 * mib; })));
  EXPECT_FALSE(steady_growth(
      series(40, [](std::size_t i) { return static_cast<double>(std::min(i, std::size_t{20})) * 2 * mib; })));
  EXPECT_FALSE(steady_growth(series(40, [](std::size_t i) { return i % 10 == 9 ? 80 * mib : 0; })));
}

TEST(SteadyGrowth, NeedsStepsAndBytes) {
  EXPECT_FALSE(steady_growth(series(9, [](std::size_t i) { return static_cast<double>(i) * 9 * mib; })));
  EXPECT_TRUE(steady_growth(series(10, [](std::size_t i) { return static_cast<double>(i) * 9 * mib; })));
  EXPECT_FALSE(steady_growth(series(40, [](std::size_t i) { return static_cast<double>(i) * 1024; })));
}

TEST(SteadyGrowth, BatchesOfVariableLengthAreSeldomTakenForIt) {
  std::mt19937 dice(1);
  std::uniform_real_distribution<double> length(0, 60 * mib);
  int taken = 0;
  for (int run = 0; run < 1000; ++run) {
    std::vector<double> values;
    for (int i = 0; i < 50; ++i) values.push_back(100 * mib + length(dice));
    taken += steady_growth(values).has_value();
  }
  EXPECT_EQ(taken, 0);
}

TEST(SteadyGrowth, ManyStepsStayQuick) {
  const auto found = steady_growth(series(100000, [](std::size_t i) { return static_cast<double>(i) * 1024; }));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_step, 1024, 1);
}

}  // namespace
}  // namespace ullage::findings
