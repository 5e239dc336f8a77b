// SPDX-License-Identifier: Apache-2.0
#include "ledger/verdict.hpp"

#include <gtest/gtest.h>

namespace ullage::ledger {
namespace {

TEST(Verdict, FitsTightAndOom) {
  EXPECT_EQ(judge(100, 85, 0.15, 0).verdict, Verdict::fits);
  EXPECT_EQ(judge(100, 86, 0.15, 0).verdict, Verdict::tight);
  EXPECT_EQ(judge(100, 100, 0.15, 0).verdict, Verdict::tight);
  EXPECT_EQ(judge(100, 101, 0.15, 0).verdict, Verdict::oom);
  EXPECT_EQ(judge(100, 101, 0.15, 0).missing_bytes, 1u);
}

TEST(Verdict, TheReserveIsTakenOffFirst) {
  EXPECT_EQ(judge(100, 85, 0.15, 10).verdict, Verdict::tight);
  EXPECT_EQ(judge(100, 95, 0.15, 10).verdict, Verdict::oom);
  EXPECT_EQ(judge(100, 0, 0.15, 200).left_bytes, 0u);
}

TEST(Verdict, AReserveBeyondTheDeviceIsMissingToo) {
  EXPECT_EQ(judge(100, 10, 0.15, 95).missing_bytes, 5u);
  EXPECT_EQ(judge(100, 10, 0.15, 120).missing_bytes, 30u);
  EXPECT_EQ(judge(100, 10, 0.15, UINT64_MAX).missing_bytes, UINT64_MAX - 90);
  EXPECT_EQ(judge(0, 10, 0.15, UINT64_MAX).missing_bytes, UINT64_MAX);
  EXPECT_EQ(judge(100, 0, 0.15, 200).verdict, Verdict::oom);
}

TEST(Verdict, WithoutACapacityOnlyNothingFits) {
  EXPECT_EQ(judge(0, 1, 0.15, 0).verdict, Verdict::oom);
  EXPECT_EQ(judge(0, 0, 0, 0).verdict, Verdict::fits);
}

}  // namespace
}  // namespace ullage::ledger
