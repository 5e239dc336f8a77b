// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/attributes.hpp"

#include <gtest/gtest.h>

using namespace ullage::vgpu;

namespace {

Profile with_capability(int major, int minor) {
  Profile profile;
  profile.cc_major = major;
  profile.cc_minor = minor;
  return profile;
}

TEST(Attributes, ComeFromTheProfile) {
  Profile profile;
  profile.sm_count = 132;
  EXPECT_EQ(attribute(profile, 16), 132);
  EXPECT_EQ(attribute(profile, 10), 32);
  EXPECT_EQ(attribute(profile, 81), 167936);
  EXPECT_FALSE(attribute(profile, 0));
  EXPECT_FALSE(attribute(profile, 5000));
}

TEST(Attributes, CodeIsOfTheArchitectureThatTheWheelHolds) {
  EXPECT_EQ(code_architecture(with_capability(8, 9)), 86);
  EXPECT_EQ(code_architecture(with_capability(8, 7)), 86);
  EXPECT_EQ(code_architecture(with_capability(9, 0)), 90);
  EXPECT_EQ(code_architecture(with_capability(10, 3)), 100);
  EXPECT_EQ(code_architecture(with_capability(7, 5)), 75);
}

TEST(Attributes, OccupancyIsBoundByThreadsBlocksAndSharedMemory) {
  const Profile a100;
  EXPECT_EQ(active_blocks_per_sm(a100, 1024, 0), 2);
  EXPECT_EQ(active_blocks_per_sm(a100, 32, 0), 32);
  EXPECT_EQ(active_blocks_per_sm(a100, 128, 80 << 10), 2);
  EXPECT_EQ(active_blocks_per_sm(a100, 2048, 0), 0);
}

TEST(Profile, IsReadFromText) {
  const Profile profile =
      parse_profile("name=Tesla T4;cc_major=7;cc_minor=5;total_bytes=1000;unlimited=1;new=2;address_rule=wsl");
  EXPECT_EQ(profile.name, "Tesla T4");
  EXPECT_EQ(profile.cc_minor, 5);
  EXPECT_EQ(profile.total_bytes, 1000u);
  EXPECT_TRUE(profile.unlimited);
  EXPECT_EQ(profile.address_rule, AddressRule::wsl);
  EXPECT_EQ(profile.sm_count, Profile{}.sm_count);
}

}  // namespace
