// SPDX-License-Identifier: Apache-2.0
#include "report/time_text.hpp"

#include <fmt/format.h>

namespace ullage::report {
namespace {

constexpr std::int64_t latest_ns = std::int64_t{1} << 62;

bool believable(std::int64_t time_ns) {
  return time_ns > -latest_ns && time_ns < latest_ns;
}

}  // namespace

std::string microseconds(std::int64_t time_ns) {
  const std::uint64_t size =
      time_ns < 0 ? 0 - static_cast<std::uint64_t>(time_ns) : static_cast<std::uint64_t>(time_ns);
  const char* sign = time_ns < 0 ? "-" : "";
  if (size % 1000 == 0) return fmt::format("{}{}", sign, size / 1000);
  return fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
}

std::optional<std::int64_t> clock_time(std::int64_t base_ns, std::int64_t time_ns) {
  if (!believable(base_ns) || !believable(time_ns) || !believable(base_ns + time_ns)) return std::nullopt;
  return base_ns + time_ns;
}

std::optional<std::int64_t> nanoseconds_at(const DeviceHistory& history, std::size_t event) {
  if (!history.time_ns.empty()) return clock_time(history.base_ns, history.time_ns[event]);
  const std::int64_t time_us = history.timeline->events.time_us[event];
  if (time_us == 0 || !believable(time_us) || time_us > latest_ns / 1000 || time_us < -latest_ns / 1000)
    return std::nullopt;
  return time_us * 1000;
}

std::string time_at(const DeviceHistory& history, std::size_t event) {
  const auto time = nanoseconds_at(history, event);
  return time ? microseconds(*time) : "";
}

}  // namespace ullage::report
