// SPDX-License-Identifier: Apache-2.0
#include "store/time.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ullage::store {
namespace {

TEST(time, texts_come_back) {
  rc::check([] {
    const std::int64_t ms = *rc::gen::inRange<std::int64_t>(0, 4'102'444'800'000);
    RC_ASSERT(parse_time(time_text(ms), false).value() == ms);
  });
}

TEST(time, parts_may_be_missing) {
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(parse_time("1970-01-02", false), 86'400'000);
  EXPECT_EQ(parse_time("1970-01-01T00:01", false), 60'000);
  EXPECT_EQ(parse_time("1970-01-01 00:00:01", false), 1000);
  EXPECT_EQ(parse_time("1970-01-01T00:00:01Z", true), 1000);
}

TEST(time, what_is_no_time_is_refused) {
  for (const char* text : {"", "yesterday", "2026", "2026-13-01", "2026-01-40", "2026-01-01T25:00", "2026-01-01x"})
    EXPECT_FALSE(parse_time(text, false)) << text;
}

}  // namespace
}  // namespace ullage::store
