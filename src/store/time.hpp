// SPDX-License-Identifier: Apache-2.0
// Moments as texts. Milliseconds since 1970, UTC.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ullage::store {

/// "2026-11-30T15:15:47.123Z".
[[nodiscard]] std::string time_text(std::int64_t ms);
/// "2026-11-30 15:15:47", in the zone of this machine.
[[nodiscard]] std::string local_time_text(std::int64_t ms);

/// Reads `2026-11-30`, `2026-11-30T15:15`, with seconds, with milliseconds, with a Z at the end or not; without a Z it
/// is `local` time or UTC. Errors: `usage`.
[[nodiscard]] Result<std::int64_t> parse_time(std::string_view text, bool local);

}  // namespace ullage::store
