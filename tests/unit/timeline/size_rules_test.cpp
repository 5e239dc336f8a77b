// SPDX-License-Identifier: Apache-2.0
#include "timeline/size_rules.hpp"

#include <gtest/gtest.h>

namespace ullage::timeline {
namespace {

constexpr std::uint64_t mib = 1ULL << 20;

TEST(SizeRules, RoundsUpTo512) {
  const AllocatorSettings s;
  EXPECT_EQ(round_size(0, s), 512u);
  EXPECT_EQ(round_size(1, s), 512u);
  EXPECT_EQ(round_size(512, s), 512u);
  EXPECT_EQ(round_size(513, s), 1024u);
  EXPECT_EQ(round_size(max_request_bytes, s), max_request_bytes);
}

TEST(SizeRules, DivisionsRoundBetweenPowersOfTwo) {
  AllocatorSettings s;
  s.roundup_power2_divisions.fill(4);
  EXPECT_EQ(round_size(1200 * 1024, s), 1280u * 1024);  // steps of 256 KiB from 1 MiB
  EXPECT_EQ(round_size(2 * mib, s), 2 * mib);
  EXPECT_EQ(round_size(2048, s), 2048u);  // not over 512 * 4
}

TEST(SizeRules, DivisionsDependOnTheSize) {
  AllocatorSettings s;
  s.roundup_power2_divisions[1] = 2;  // from 2 MiB
  EXPECT_EQ(round_size(2 * mib + 512, s), 3 * mib);
  EXPECT_EQ(round_size(4 * mib + 512, s), 4 * mib + 512);
}

TEST(SizeRules, SplitLimits) {
  AllocatorSettings s;
  EXPECT_TRUE(should_split(512, 512, true, false, s));
  EXPECT_FALSE(should_split(512, 0, true, false, s));
  EXPECT_FALSE(should_split(2 * mib, mib, false, false, s));
  EXPECT_TRUE(should_split(2 * mib, mib + 512, false, false, s));
  EXPECT_TRUE(should_split(2 * mib, 512, false, true, s));
  s.max_split_bytes = 2 * mib;
  EXPECT_FALSE(should_split(2 * mib, 9 * mib, false, false, s));
}

}  // namespace
}  // namespace ullage::timeline
