// SPDX-License-Identifier: Apache-2.0
#include "allocator/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ullage::allocator {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t gib = 1 << 30;

SearchScope scope() {
  SearchScope scope;
  scope.torch = TorchVersion{2, 11};
  scope.largest_segment = 10 * gib;
  scope.peak_reserved = 30 * gib;
  scope.capacity = 32 * gib;
  return scope;
}

std::size_t with(const std::vector<std::string>& texts, std::string_view part) {
  return static_cast<std::size_t>(
      std::ranges::count_if(texts, [part](const std::string& text) { return text.find(part) != text.npos; }));
}

TEST(Candidates, EachIsASettingOfPyTorch) {
  const auto found = settings_to_search(scope());
  EXPECT_GT(found.size(), 18U);
  for (const auto& text : found) EXPECT_TRUE(parse_settings(text)) << text;
  EXPECT_EQ(found, settings_to_search(scope()));
  EXPECT_EQ(found.front(), "expandable_segments:True");
  auto sorted = found;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
}

TEST(Candidates, WhatTheTorchDoesNotHaveIsLeftOut) {
  auto older = scope();
  older.torch = TorchVersion{2, 10};
  EXPECT_EQ(with(settings_to_search(scope()), "large_segment_size_mb"), 1U);
  EXPECT_EQ(with(settings_to_search(older), "large_segment_size_mb"), 0U);
  EXPECT_EQ(with(settings_to_search(older), "per_process_memory_fraction"), 0U);
  older.torch.reset();
  EXPECT_EQ(with(settings_to_search(older), "large_segment_size_mb"), 0U);
}

TEST(Candidates, WhatCannotChangeAnythingIsLeftOut) {
  auto small = scope();
  small.largest_segment = 200 * mib;
  EXPECT_EQ(with(settings_to_search(small), "max_split_size_mb:256"), 0U);
  EXPECT_GT(with(settings_to_search(small), "max_split_size_mb:128"), 0U);
  EXPECT_EQ(with(settings_to_search(small), "expandable_segments:True,max_split_size_mb:512"), 1U);
  auto roomy = scope();
  roomy.peak_reserved = 21 * gib;
  EXPECT_GT(with(settings_to_search(roomy), "garbage_collection_threshold:0.6"), 0U);
  EXPECT_EQ(with(settings_to_search(roomy), "garbage_collection_threshold:0.8"), 0U);
  roomy.capacity.reset();
  EXPECT_EQ(with(settings_to_search(roomy), "garbage_collection_threshold"), 0U);
  auto expandable = scope();
  expandable.recorded = *parse_settings("expandable_segments:True");
  EXPECT_EQ(std::ranges::count(settings_to_search(expandable), "expandable_segments:True"), 0);
}

TEST(Candidates, TheLargestSegment) {
  timeline::Timeline timeline;
  EXPECT_EQ(largest_segment(timeline, {}), 0U);
  timeline.events.push_back({timeline::Action::alloc, 4096, 3 * mib + 1, 0, 0, timeline::no_stack});
  timeline.events.push_back({timeline::Action::free_completed, 4096, 99 * mib, 0, 0, timeline::no_stack});
  EXPECT_EQ(largest_segment(timeline, {}), 4 * mib);
  timeline.events.push_back({timeline::Action::oom, 0, 7 * gib, 0, 0, timeline::no_stack});
  EXPECT_EQ(largest_segment(timeline, {}), 7 * gib);
  timeline::InitialState initial;
  initial.ranges.push_back({0, 8 * gib, false, false});
  EXPECT_EQ(largest_segment(timeline, initial), 8 * gib);
}

TEST(Candidates, VersionsAsTorchPrintsThem) {
  EXPECT_EQ(parse_torch_version("2.11.0+cu130"), (TorchVersion{2, 11}));
  EXPECT_EQ(parse_torch_version("2.9"), (TorchVersion{2, 9}));
  EXPECT_EQ(parse_torch_version("2.15.0a0+git1"), (TorchVersion{2, 15}));
  EXPECT_LT((TorchVersion{2, 9}), (TorchVersion{2, 11}));
  for (const char* text : {"", "2", "x.1", "2."}) EXPECT_FALSE(parse_torch_version(text)) << text;
}

}  // namespace
}  // namespace ullage::allocator
