// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/repeated_copies.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ullage::vgpu {
namespace {

TEST(RepeatedCopies, TheSameBytesFromTheSameLineInALaterInterval) {
  RepeatedCopies copies;
  const std::string mask(1000, 'm'), other(1000, 'o');
  EXPECT_FALSE(copies.see("a.py:1 f", mask.data(), mask.size()));
  EXPECT_FALSE(copies.see("a.py:1 f", mask.data(), mask.size())) << "between the same marks it may be another tensor";
  copies.mark();
  copies.mark();
  EXPECT_FALSE(copies.see("a.py:1 f", other.data(), other.size()));
  EXPECT_TRUE(copies.see("a.py:1 f", mask.data(), mask.size()));
  EXPECT_FALSE(copies.see("a.py:2 f", mask.data(), mask.size()));
  EXPECT_FALSE(copies.see("a.py:1 f", mask.data(), 999));
  EXPECT_FALSE(copies.see("", mask.data(), mask.size()));
}

TEST(RepeatedCopies, ALargeCopyIsLookedAtInParts) {
  RepeatedCopies copies;
  std::string data(10 << 20, 'x');
  EXPECT_FALSE(copies.see("a.py:1 f", data.data(), data.size()));
  copies.mark();
  EXPECT_TRUE(copies.see("a.py:1 f", data.data(), data.size()));
  copies.mark();
  data.back() = 'y';
  EXPECT_FALSE(copies.see("a.py:1 f", data.data(), data.size()));
  copies.mark();
  data.front() = 'y';
  EXPECT_FALSE(copies.see("a.py:1 f", data.data(), data.size()));
}

}  // namespace
}  // namespace ullage::vgpu
