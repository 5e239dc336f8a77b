// SPDX-License-Identifier: Apache-2.0
// Whether another allocator setting would have found room for a request that failed, by replaying what was recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "allocator/settings.hpp"
#include "timeline/initial_state.hpp"
#include "timeline/timeline.hpp"

namespace ullage::findings {

struct Cure {
  bool passes = false;              ///< every request up to the failed one, and that one, finds memory
  std::uint64_t peak_reserved = 0;  ///< bytes; of the replay
  bool start_is_exact = true;       ///< false: blocks older than the recording were laid out anew
};

/// Replays up to the failed request, event `at`, on the memory that PyTorch had then: what was reserved, `reserved`
/// bytes, and what the driver had free, where the source says it (TraceEntry::OOM, device_free). Nothing for a source
/// that used these settings already, or without requests before.
std::optional<Cure> cure_by(const timeline::Timeline& timeline, const timeline::InitialState& initial, std::size_t at,
                            std::uint64_t reserved, const allocator::Settings& settings,
                            const allocator::Rules& rules = {});

}  // namespace ullage::findings
