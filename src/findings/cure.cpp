// SPDX-License-Identifier: Apache-2.0
#include "findings/cure.hpp"

#include "allocator/replay.hpp"

namespace ullage::findings {

std::optional<Cure> cure_by(const timeline::Timeline& timeline, const timeline::InitialState& initial, std::size_t at,
                            std::uint64_t reserved, const allocator::Settings& settings,
                            const allocator::Rules& rules) {
  const bool same = timeline.settings.expandable_segments == settings.sizes.expandable_segments &&
                    timeline.settings.max_split_bytes == settings.sizes.max_split_bytes;
  if (same || at == 0 || at >= timeline.events.count()) return std::nullopt;
  allocator::ReplayOptions options;
  options.settings = settings;
  options.rules = rules;
  options.available = allocator::available_at_failure(timeline, at, reserved);
  options.until = at + 1;
  const auto result = allocator::replay(timeline, initial, options);
  return Cure{!result.failure && result.recorded_failures_pass > 0, result.peak_reserved, result.start_is_exact};
}

}  // namespace ullage::findings
