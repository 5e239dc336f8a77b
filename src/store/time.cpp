// SPDX-License-Identifier: Apache-2.0
#include "store/time.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <ctime>

namespace ullage::store {
namespace {

std::time_t seconds_of(std::int64_t ms) {
  return static_cast<std::time_t>(ms >= 0 ? ms / 1000 : (ms - 999) / 1000);
}

bool in_range(const std::tm& time) {
  return time.tm_mon >= 0 && time.tm_mon < 12 && time.tm_mday >= 1 && time.tm_mday <= 31 && time.tm_hour < 24 &&
         time.tm_min < 60 && time.tm_sec <= 60 && time.tm_year >= 0;
}

}  // namespace

std::string time_text(std::int64_t ms) {
  const std::time_t seconds = seconds_of(ms);
  std::tm time{};
  gmtime_r(&seconds, &time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday,
                     time.tm_hour, time.tm_min, time.tm_sec, ms - static_cast<std::int64_t>(seconds) * 1000);
}

std::string local_time_text(std::int64_t ms) {
  const std::time_t seconds = seconds_of(ms);
  std::tm time{};
  localtime_r(&seconds, &time);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday,
                     time.tm_hour, time.tm_min, time.tm_sec);
}

Result<std::int64_t> parse_time(std::string_view text, bool local) {
  const std::string whole(text);
  std::tm time{};
  int used = 0, milliseconds = 0;
  const char* rest = whole.c_str();
  const auto take = [&](const char* format, auto*... into) {
    used = 0;
    std::sscanf(rest, format, into..., &used);
    rest += used;
    return used > 0;
  };
  const auto refused = [&whole] {
    return fail(ErrorKind::usage, "this is no time", "'" + whole + "'", "2026-11-30, 2026-11-30T15:15, or an age: 7d");
  };
  if (!take("%4d-%2d-%2d%n", &time.tm_year, &time.tm_mon, &time.tm_mday)) return refused();
  if (take("T%2d:%2d%n", &time.tm_hour, &time.tm_min) || take(" %2d:%2d%n", &time.tm_hour, &time.tm_min))
    if (take(":%2d%n", &time.tm_sec)) take(".%3d%n", &milliseconds);
  if (*rest == 'Z') {
    local = false;
    ++rest;
  }
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  time.tm_isdst = -1;
  if (*rest != 0 || !in_range(time)) return refused();
  const std::time_t seconds = local ? std::mktime(&time) : timegm(&time);
  return static_cast<std::int64_t>(seconds) * 1000 + milliseconds;
}

}  // namespace ullage::store
