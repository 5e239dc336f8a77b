// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

namespace ullage {
namespace {

TEST(ParseSize, KeepsBinaryAndDecimalUnitsApart) {
  EXPECT_EQ(parse_size("80GiB").value(), 80 * gib);
  EXPECT_EQ(parse_size("80GB").value(), 80'000'000'000u);
  EXPECT_EQ(parse_size("512MiB").value(), 512 * mib);
  EXPECT_EQ(parse_size("512 mb").value(), 512'000'000u);
  EXPECT_EQ(parse_size("1.5GiB").value(), gib + gib / 2);
  EXPECT_EQ(parse_size("123").value(), 123u);
  EXPECT_EQ(parse_size("123B").value(), 123u);
  EXPECT_EQ(parse_size("0.5KiB").value(), 512u);
}

TEST(ParseSize, RefusesWhatIsNotASize) {
  for (const char* text : {"", "GiB", "80G", "-1GiB", "1e9", "1..5GiB", "80GiBs", "0x10", "80 Gi B", ".", "١"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().kind, ErrorKind::usage) << text;
    EXPECT_FALSE(size.error().expected.empty());
  }
}

TEST(ParseSize, SaysWhatIsWrong) {
  EXPECT_EQ(parse_size("-1GiB").error().what, "a size is not negative");
  EXPECT_EQ(parse_size("1e30GiB").error().what, "a size has no exponent");
  EXPECT_EQ(parse_size("1e9").error().what, "a size has no exponent");
  EXPECT_EQ(parse_size("GiB").error().what, "not a size");
  EXPECT_EQ(parse_size("80G").error().what, "unknown or ambiguous unit of size");
}

TEST(ParseSize, ChecksOverflow) {
  EXPECT_EQ(parse_size("18446744073709551615").value(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(parse_size("18446744073709551616"));
  EXPECT_FALSE(parse_size("99999999TiB"));
  EXPECT_FALSE(parse_size("99999999.5TiB"));
}

TEST(ParseSize, ReadsBackWhatFormatExactWrites) {
  EXPECT_TRUE(rc::check([](std::uint64_t bytes) {
    RC_ASSERT(parse_size(format_exact_bytes(bytes)).value() == bytes);
    const std::uint64_t rounded = bytes >> 40 << 20;
    RC_ASSERT(parse_size(format_exact_bytes(rounded)).value() == rounded);
  }));
}

TEST(ParseSize, NeverThrows) {
  EXPECT_TRUE(rc::check([](const std::string& text) { (void)parse_size(text).has_value(); }));
}

TEST(ParseSize, KnowsABareNumberThatHasLostItsUnit) {
  for (const char* text : {"6", " 40 ", "0.5", "1048575"}) EXPECT_TRUE(has_lost_its_unit(text)) << text;
  for (const char* text : {"0", "6B", "6 KiB", "1048576", "six", ""}) EXPECT_FALSE(has_lost_its_unit(text)) << text;
  EXPECT_EQ(units_for(" 6 "), "6GiB (2^30 bytes each) or 6GB (10^9)");
}

TEST(FormatBytes, IsWithinHalfAHundredthOfTheUnit) {
  EXPECT_TRUE(rc::check([](std::uint32_t small) {
    const std::uint64_t bytes = std::uint64_t{small} << 8;
    const auto read = parse_size(format_bytes(bytes)).value();
    const double error = read > bytes ? double(read - bytes) : double(bytes - read);
    RC_ASSERT(error <= 0.0051 * double(bytes) + 0.5);
  }));
}

TEST(FormatBytes, PrintsTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(42298834944), "39.39 GiB");
  EXPECT_EQ(format_signed_bytes(-1536), "-1.50 KiB");
  EXPECT_EQ(format_signed_bytes(std::numeric_limits<std::int64_t>::min()), "-8388608.00 TiB");
}

TEST(ParsePercent, TakesPercentagesAndFractions) {
  EXPECT_DOUBLE_EQ(parse_percent("15%").value(), 0.15);
  EXPECT_DOUBLE_EQ(parse_percent("0.2").value(), 0.2);
  EXPECT_DOUBLE_EQ(parse_percent("0").value(), 0.0);
  EXPECT_DOUBLE_EQ(parse_percent("100%").value(), 1.0);
  for (const char* text : {"", "15", "101%", "-5%", "a%", "15%%", "%"}) EXPECT_FALSE(parse_percent(text)) << text;
}

TEST(ParseDuration, NeedsAUnit) {
  using namespace std::chrono_literals;
  EXPECT_EQ(parse_duration("10m").value(), 10min);
  EXPECT_EQ(parse_duration("90s").value(), 90s);
  EXPECT_EQ(parse_duration("1h").value(), 1h);
  EXPECT_EQ(parse_duration("1.5s").value(), 1500ms);
  for (const char* text : {"", "10", "0s", "-1s", "5 days", "1e3s", "9999999h"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Checked, RefusesOverflow) {
  const auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(checked_add(most - 1, 1).value(), most);
  EXPECT_FALSE(checked_add(most, 1));
  EXPECT_EQ(checked_multiply(most, 1).value(), most);
  EXPECT_EQ(checked_multiply(0, 0).value(), 0u);
  EXPECT_FALSE(checked_multiply(most / 2 + 1, 2));
}

}  // namespace
}  // namespace ullage
