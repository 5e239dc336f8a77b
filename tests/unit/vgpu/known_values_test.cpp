// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/known_values.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <tuple>
#include <vector>

using ullage::vgpu::KnownValues;

namespace {

TEST(KnownValues, NeighboursMergeAndHolesStay) {
  KnownValues known;
  known.set_known(100, 10);
  known.set_known(110, 10);
  EXPECT_TRUE(known.is_known(100, 20));
  known.set_unknown(105, 2);
  EXPECT_FALSE(known.is_known(100, 20));
  EXPECT_TRUE(known.is_known(107, 13));
}

TEST(KnownValues, AWriteForgetsFromItsAddressOn) {
  KnownValues known;
  known.set_known(0, 100);
  known.forget(40);
  EXPECT_TRUE(known.is_known(0, 40));
  EXPECT_FALSE(known.is_known(40, 1));
}

// Against a plain array of flags.
RC_GTEST_PROP(KnownValues, EqualsAnArray,
              (const std::vector<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>>& program)) {
  KnownValues known;
  bool flags[512] = {};
  for (const auto& [action, start, bytes] : program) {
    if (action % 2)
      known.set_known(start, bytes);
    else
      known.set_unknown(start, bytes);
    for (int i = start; i < start + bytes; ++i) flags[i] = action % 2;
  }
  for (int i = 0; i < 512; ++i) RC_ASSERT(known.is_known(static_cast<std::uint64_t>(i), 1) == flags[i]);
}

}  // namespace
