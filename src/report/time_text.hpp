// SPDX-License-Identifier: Apache-2.0
// Times of events as texts of microseconds, with decimals only where the source has them.
#pragma once

#include "report/export_view.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ullage::report {

/// "12" or "12.345"; exact.
[[nodiscard]] std::string microseconds(std::int64_t time_ns);

/// The time of an event on the source's clock; nothing when the source has none, or one that no clock shows (beyond 150
/// years from 1970).
[[nodiscard]] std::optional<std::int64_t> nanoseconds_at(const DeviceHistory& history, std::size_t event);

/// The same as a text of microseconds; empty when not known.
[[nodiscard]] std::string time_at(const DeviceHistory& history, std::size_t event);

/// A sum of two times; nothing when no clock shows it.
[[nodiscard]] std::optional<std::int64_t> clock_time(std::int64_t base_ns, std::int64_t time_ns);

}  // namespace ullage::report
