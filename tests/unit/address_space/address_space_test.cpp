// SPDX-License-Identifier: Apache-2.0
#include "address_space/address_space.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

using namespace ullage::address_space;

namespace {

constexpr std::uint64_t MiB = 1ull << 20;
constexpr Window window{1ull << 40, 2ull << 40};

TEST(NativeLinux, SmallSegmentsStrideByChunks) {
  auto space = native_linux(window);
  const Address first = *space->allocate(20 * MiB);
  const Address second = *space->allocate(20 * MiB);
  EXPECT_EQ(first, window.high - 32 * MiB);
  EXPECT_EQ(first - second, 32 * MiB);
}

TEST(NativeLinux, TailsAreFilledLowestFirstNotBestFirst) {
  auto space = native_linux(window);
  const Address high = *space->allocate(20 * MiB);  // tail of 12 MiB
  const Address low = *space->allocate(18 * MiB);   // tail of 14 MiB, below the other
  EXPECT_EQ(*space->allocate(10 * MiB), low + 18 * MiB);
  EXPECT_EQ(*space->allocate(10 * MiB), high + 20 * MiB);
}

TEST(NativeLinux, HundredMiBSegmentsLeaveTwentyEightMiBTails) {
  auto space = native_linux(window);
  const Address first = *space->allocate(100 * MiB);
  EXPECT_EQ(first, window.high - 128 * MiB);
  EXPECT_EQ(*space->allocate(26 * MiB), first + 100 * MiB);
  EXPECT_EQ(*space->allocate(2 * MiB), first + 126 * MiB);
  EXPECT_EQ(first - *space->allocate(100 * MiB), 128 * MiB);
}

TEST(NativeLinux, AFreedChunkGivesItsGapBack) {
  auto space = native_linux(window);
  const Address first = *space->allocate(64 * MiB);
  space->allocate(64 * MiB);
  EXPECT_EQ(space->release(first), 64 * MiB);
  EXPECT_EQ(*space->allocate(64 * MiB), first);
}

TEST(NativeLinux, AForeignAddressIsRefused) {
  auto space = native_linux(window);
  const Address address = *space->allocate(2 * MiB);
  EXPECT_EQ(space->release(address + 512), 0u);
  EXPECT_EQ(space->release(address), 2 * MiB);
  EXPECT_EQ(space->release(address), 0u);
}

TEST(NativeLinux, AnExhaustedWindowGivesNothing) {
  auto space = native_linux({0, 64 * MiB});
  EXPECT_TRUE(space->allocate(40 * MiB));
  EXPECT_FALSE(space->allocate(40 * MiB));
}

TEST(Wsl, FirstFitFromTheBottomAndTheHeldRangeComesBack) {
  auto space = wsl(window, 80 * MiB, 98 * MiB);
  EXPECT_EQ(*space->allocate(20 * MiB), window.low + 80 * MiB);
  space->first_launch();  // modules at 100 MiB; the lowest 80 MiB become free
  EXPECT_EQ(*space->allocate(20 * MiB), window.low);
  EXPECT_EQ(*space->allocate(70 * MiB), window.low + 198 * MiB);
}

// Random programs: ranges never overlap, stay inside the window, and the same program gives the same addresses.
using Program = std::vector<std::pair<bool, std::uint8_t>>;

void obeys(const Program& program, const std::function<std::unique_ptr<AddressSpace>()>& make) {
  auto space = make(), twin = make();
  std::map<Address, std::uint64_t> used;
  for (const auto& [take, number] : program) {
    const std::uint64_t units = number % 80 + 1;
    if (take || used.empty()) {
      const auto address = space->allocate(units * 2 * MiB);
      RC_ASSERT(address == twin->allocate(units * 2 * MiB));
      if (!address) continue;
      const std::uint64_t end = *address + units * 2 * MiB;
      RC_ASSERT(*address >= window.low && end <= window.high && *address % (2 * MiB) == 0);
      const auto next = used.lower_bound(*address);
      const bool below_next = next == used.end() || next->first >= end;
      const bool above_previous = next == used.begin() || std::prev(next)->first + std::prev(next)->second <= *address;
      RC_ASSERT(below_next);
      RC_ASSERT(above_previous);
      used.emplace(*address, units * 2 * MiB);
    } else {
      auto victim = std::next(used.begin(), static_cast<long>(units % used.size()));
      RC_ASSERT(space->release(victim->first) == victim->second);
      RC_ASSERT(twin->release(victim->first) == victim->second);
      used.erase(victim);
    }
  }
}

RC_GTEST_PROP(NativeLinux, RandomPrograms, (const Program& program)) {
  obeys(program, [] { return native_linux(window); });
}

RC_GTEST_PROP(Wsl, RandomPrograms, (const Program& program)) {
  obeys(program, [] { return wsl(window, 80 * MiB, 98 * MiB); });
}

}  // namespace
