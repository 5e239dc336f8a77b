// SPDX-License-Identifier: Apache-2.0
#include "address_space/address_space.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
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

/// The rule of native Linux in words, a mark for every 2 MiB of the window.
class SlowNativeLinux {
 public:
  explicit SlowNativeLinux(Address units) : chunk_(units), used_(units) {}

  std::optional<Address> allocate(Address units) {
    for (Address start = 0; start + units <= chunk_.size(); ++start)
      if (fits(start, units)) return take(start, units);
    const Address whole = (units + 15) / 16 * 16;
    for (Address start = chunk_.size() - whole + 1; start-- > 0;)
      if (std::count(&chunk_[start], &chunk_[start] + whole, 0) == static_cast<long>(whole)) {
        std::fill_n(&chunk_[start], whole, ++chunks_);
        return take(start, units);
      }
    return std::nullopt;
  }
  void release(Address start, Address units) {
    std::fill_n(&used_[start], units, 0);
    const int chunk = chunk_[start];
    for (Address i = 0; i < chunk_.size(); ++i)
      if (chunk_[i] == chunk && used_[i]) return;
    std::replace(chunk_.begin(), chunk_.end(), chunk, 0);
  }

 private:
  bool fits(Address start, Address units) const {
    for (Address i = start; i < start + units; ++i)
      if (chunk_[i] == 0 || chunk_[i] != chunk_[start] || used_[i]) return false;
    return true;
  }
  Address take(Address start, Address units) {
    std::fill_n(&used_[start], units, 1);
    return start;
  }

  std::vector<int> chunk_, used_;
  int chunks_ = 0;
};

RC_GTEST_PROP(NativeLinux, IsTheRuleInWords, (const Program& program)) {
  constexpr Address units = 32 * 16;
  const auto space = native_linux({64 * MiB, 64 * MiB + units * 2 * MiB});
  SlowNativeLinux slow(units);
  std::map<Address, Address> taken;
  for (const auto& [take, number] : program) {
    if (take || taken.empty()) {
      const Address size = number % 40 + 1;
      const auto expected = slow.allocate(size), address = space->allocate(size * 2 * MiB);
      RC_ASSERT(expected.has_value() == address.has_value());
      if (!address) continue;
      RC_ASSERT(*address == 64 * MiB + *expected * 2 * MiB);
      taken.emplace(*expected, size);
    } else {
      const auto victim = std::next(taken.begin(), static_cast<long>(number % taken.size()));
      RC_ASSERT(space->release(64 * MiB + victim->first * 2 * MiB) == victim->second * 2 * MiB);
      slow.release(victim->first, victim->second);
      taken.erase(victim);
    }
  }
}

}  // namespace
