// SPDX-License-Identifier: Apache-2.0
#include "allocator/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ullage::allocator {
namespace {

constexpr std::uint64_t mib = 1 << 20;

TEST(AllocatorSettings, PyTorchsOwnSpelling) {
  const auto settings = parse_settings(
      "expandable_segments:True, max_split_size_mb:512,garbage_collection_threshold:0.8,large_segment_size_mb:40,"
      "per_process_memory_fraction:0.5,pinned_use_background_threads:True");
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_TRUE(settings->sizes.expandable_segments);
  EXPECT_EQ(settings->sizes.max_split_bytes, 512 * mib);
  EXPECT_DOUBLE_EQ(settings->garbage_collection_threshold, 0.8);
  EXPECT_EQ(settings->large_segment_bytes, 40 * mib);
  EXPECT_EQ(settings->max_non_split_rounding, 40 * mib);
  EXPECT_DOUBLE_EQ(*settings->memory_fraction, 0.5);
}

TEST(AllocatorSettings, Divisions) {
  const auto all = parse_settings("roundup_power2_divisions:4");
  ASSERT_TRUE(all);
  EXPECT_TRUE(std::ranges::all_of(all->sizes.roundup_power2_divisions, [](auto n) { return n == 4; }));
  const auto list = parse_settings("roundup_power2_divisions:[64:8,256:4,>:1]");
  ASSERT_TRUE(list);
  const auto& slots = list->sizes.roundup_power2_divisions;
  EXPECT_EQ(slots[0], 8u) << "a first key fills what is below it";
  EXPECT_EQ(slots[6], 8u);
  EXPECT_EQ(slots[7], 0u) << "between two keys nothing is set";
  EXPECT_EQ(slots[8], 4u);
  EXPECT_EQ(slots[9], 1u);
  EXPECT_EQ(slots[15], 1u);
}

TEST(AllocatorSettings, RulesOfAVersion) {
  EXPECT_TRUE(rules_of(TorchVersion{2, 6}).full_fraction_limits);
  EXPECT_FALSE(rules_of(TorchVersion{2, 11}).full_fraction_limits);
  for (const auto& known : {std::optional<TorchVersion>{}, std::optional(TorchVersion{2, 11})}) {
    EXPECT_TRUE(rules_of(known).pools_are_captures);
    EXPECT_FALSE(rules_of(known).oldest_first);
  }
  EXPECT_FALSE(rules_of(TorchVersion{2, 15}).pools_are_captures);
  EXPECT_TRUE(rules_of(TorchVersion{3, 0}).oldest_first);
}

TEST(AllocatorSettings, WhatPyTorchRefuses) {
  for (const char* text :
       {"max_split_size_mb:20", "max_split_size_mb:x", "max_split_size_mb", "garbage_collection_threshold:1.5",
        "expandable_segments:true", "roundup_power2_divisions:3", "roundup_power2_divisions:[64:8",
        "roundup_power2_divisions:[65:8]", "large_segment_size_mb:0", "backend:cudaMallocAsync", "no_such_key:1"})
    EXPECT_FALSE(parse_settings(text)) << text;
  const auto mistyped = parse_settings("expandable_segment:True");
  ASSERT_FALSE(mistyped);
  EXPECT_NE(mistyped.error().hint.find("expandable_segments"), std::string::npos);
  EXPECT_TRUE(parse_settings(""));
}

}  // namespace
}  // namespace ullage::allocator
