// SPDX-License-Identifier: Apache-2.0
// Which allocator settings are worth a replay: those that people use, less those that cannot change this recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/settings.hpp"
#include "timeline/initial_state.hpp"
#include "timeline/timeline.hpp"

namespace ullage::allocator {

/// What decides whether a setting can have an effect. Bytes.
struct SearchScope {
  Settings recorded;
  std::optional<TorchVersion> torch;      ///< nothing: not known; then what came after 2.1 is left out
  std::uint64_t largest_segment = 0;      ///< see below
  std::uint64_t peak_reserved = 0;        ///< with the recorded settings
  std::optional<std::uint64_t> capacity;  ///< of the device, as CUDA shows it; nothing: no limit
};

/// The largest segment that the requests of a recording need, or that was there before.
std::uint64_t largest_segment(const timeline::Timeline& timeline, const timeline::InitialState& initial);

/// PyTorch's own spelling, simple ones before pairs; the same scope gives the same list.
std::vector<std::string> settings_to_search(const SearchScope& scope);

}  // namespace ullage::allocator
