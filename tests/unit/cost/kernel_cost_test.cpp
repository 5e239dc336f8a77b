// SPDX-License-Identifier: Apache-2.0
#include "cost/kernel/kernel_cost.hpp"

#include <gtest/gtest.h>

using namespace ullage::cost;
using ullage::ulog::Direction;

namespace {

const CrudeKernelCost model({1e12, 100e12, 10e9});

TEST(CrudeKernelCost, AnEmptyKernelTakesItsFixedTime) {
  EXPECT_EQ(model.duration_ns({}), 2000u);
}

TEST(CrudeKernelCost, AProductIsBoundByItsFlops) {
  EXPECT_EQ(model.duration_ns({Work::Kind::gemm, 60e12, 1, 0, Direction::device_to_device}), 1'000'002'000u);
}

TEST(CrudeKernelCost, ACopyFromTheHostCrossesTheLink) {
  EXPECT_EQ(model.duration_ns({Work::Kind::copy, 0, 8e9, 0, Direction::host_to_device}), 1'000'002'000u);
  EXPECT_EQ(model.duration_ns({Work::Kind::copy, 0, 8e9, 0, Direction::device_to_device}), 10'002'000u);
}

TEST(CrudeKernelCost, UnknownTrafficFollowsTheThreads) {
  EXPECT_EQ(model.duration_ns({Work::Kind::kernel, 0, 0, 25'000'000, Direction::device_to_device}), 1'002'000u);
}

}  // namespace
