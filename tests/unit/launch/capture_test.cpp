// SPDX-License-Identifier: Apache-2.0
#include "launch/capture.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ullage {
namespace {

using namespace std::chrono_literals;

TEST(capture, gives_what_a_program_prints) {
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo one; echo two >&2"}), "one\n");
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo one"}, 10s), "one\n");
  EXPECT_EQ(output_of({"/bin/sh", "-c", "seq 20000 | wc -l"}, 10s), "20000\n");
}

TEST(capture, gives_nothing_of_a_failure) {
  EXPECT_EQ(output_of({"/no/such/program"}), std::nullopt);
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo one; exit 3"}), std::nullopt);
}

TEST(capture, ends_what_takes_too_long) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo one; exec sleep 20"}, 100ms), std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(capture, hides_an_outer_rehearsal) {
  setenv("ULLAGE_RUN_DIR", "x", 1);
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo [$ULLAGE_RUN_DIR]"}), "[]\n");
  unsetenv("ULLAGE_RUN_DIR");
}

}  // namespace
}  // namespace ullage
