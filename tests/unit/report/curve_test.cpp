// SPDX-License-Identifier: Apache-2.0
#include "report/text/curve.hpp"

#include "base/bytes.hpp"

#include <gtest/gtest.h>

namespace ullage::report {
namespace {

TEST(curve, draws_allocated_below_reserved) {
  Curve curve;
  for (std::uint64_t i = 0; i < 12; ++i) curve.columns.push_back({i * mib, 12 * mib});
  curve.marks = {{0, "load"}, {1, "1"}, {7, "2"}, {30, "3"}};
  curve.axis = "12 events";
  EXPECT_EQ(curve_text(curve),
            "  12.00 MiB |░░░░░░░░░░░░\n"
            "            |░░░░░░░░░░░█\n"
            "            |░░░░░░░░░░██\n"
            "            |░░░░░░░░░███\n"
            "            |░░░░░░░░████\n"
            "   6.00 MiB |░░░░░░░█████\n"
            "            |░░░░░░██████\n"
            "            |░░░░░███████\n"
            "            |░░░░████████\n"
            "            |░░░█████████\n"
            "            |░░██████████\n"
            "        0 B |░███████████\n"
            "            ++------+----\n"
            "       step  load   2\n"
            "             █ allocated, ░ reserved by PyTorch; 12 events\n");
}

TEST(curve, of_nothing_is_nothing) {
  EXPECT_EQ(curve_text({}), "");
  EXPECT_EQ(curve_text({{{0, 0}, {0, 0}}, {}, ""}), "");
}

TEST(curve, little_memory_still_shows) {
  const std::string text = curve_text({{{1, 1}, {gib, gib}}, {}, ""});
  EXPECT_NE(text.find("0 B |██"), std::string::npos);
}

}  // namespace
}  // namespace ullage::report
