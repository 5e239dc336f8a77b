// SPDX-License-Identifier: Apache-2.0
#include "allocator/candidates.hpp"

#include <algorithm>
#include <string_view>

#include "address_space/address_space.hpp"

namespace ullage::allocator {
namespace {

// Simple ones first: of two that do the same, the first is shown above.
constexpr std::string_view tried[] = {
    "expandable_segments:True",
    "max_split_size_mb:64",
    "max_split_size_mb:128",
    "max_split_size_mb:256",
    "max_split_size_mb:512",
    "max_split_size_mb:1024",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:8",
    "large_segment_size_mb:40",
    "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
    "expandable_segments:True,roundup_power2_divisions:4",
    "expandable_segments:True,roundup_power2_divisions:8",
    "expandable_segments:True,roundup_power2_divisions:[32:256,64:128,256:64,>:32]",
    "expandable_segments:True,max_split_size_mb:128",
    "expandable_segments:True,max_split_size_mb:512",
    "max_split_size_mb:128,roundup_power2_divisions:8",
    "max_split_size_mb:512,roundup_power2_divisions:8",
    "garbage_collection_threshold:0.6,per_process_memory_fraction:0.99",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.99",
    "garbage_collection_threshold:0.6,per_process_memory_fraction:0.99,max_split_size_mb:128",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.99,max_split_size_mb:512",
};

/// The first torch that was seen to have a key; those that are not here are older than memory snapshots.
struct Since {
  std::string_view key;
  TorchVersion torch;
};
constexpr Since newer[] = {{"large_segment_size_mb", {2, 11}}, {"per_process_memory_fraction", {2, 11}}};

bool exists(std::string_view text, std::optional<TorchVersion> torch) {
  for (const auto& [key, since] : newer)
    if (text.find(key) != text.npos && (!torch || *torch < since)) return false;
  return true;
}

// The collector gives memory back when more than a share of what the process may have is reserved.
bool collects(const Settings& settings, const SearchScope& scope) {
  if (!scope.capacity || !settings.memory_fraction) return false;
  const double limit = settings.garbage_collection_threshold * *settings.memory_fraction;
  return static_cast<double>(scope.peak_reserved) > limit * static_cast<double>(*scope.capacity);
}

bool can_matter(const Settings& settings, const SearchScope& scope) {
  if (settings == scope.recorded) return false;
  if (settings.garbage_collection_threshold > 0 && !collects(settings, scope)) return false;
  const bool splits_less = settings.sizes.max_split_bytes != Settings{}.sizes.max_split_bytes;
  // Expandable segments are as large as what they hold together.
  return !splits_less || settings.sizes.expandable_segments || settings.sizes.max_split_bytes <= scope.largest_segment;
}

}  // namespace

std::uint64_t largest_segment(const timeline::Timeline& timeline, const timeline::InitialState& initial) {
  std::uint64_t largest = 0;
  for (const auto& range : initial.ranges) largest = std::max(largest, range.bytes);
  for (std::size_t i = 0; i < timeline.events.count(); ++i)
    if (const auto action = timeline.events.action[i];
        action == timeline::Action::alloc || action == timeline::Action::oom)
      largest = std::max(largest, std::min(timeline.events.size[i], timeline::max_request_bytes));
  return address_space::round_up(largest, address_space::granularity);
}

std::vector<std::string> settings_to_search(const SearchScope& scope) {
  std::vector<std::string> found;
  for (const std::string_view text : tried) {
    const auto settings = parse_settings(text);
    if (settings && exists(text, scope.torch) && can_matter(*settings, scope)) found.emplace_back(text);
  }
  return found;
}

}  // namespace ullage::allocator
