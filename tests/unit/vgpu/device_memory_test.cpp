// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/vgpu/fixture.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <map>
#include <vector>

using namespace ullage::vgpu;
using namespace ullage::vgpu::test;

namespace {

struct Memory {
  Profile profile = small_profile();
  Backing backing{next_base(), window};
  DeviceMemory memory{profile, backing};
  std::uint64_t freed = 0;
  MemoryKind kind{};
};

TEST(DeviceMemory, ChargesUnitsOfTwoMiBAfterTheContext) {
  Memory m;
  Address address = 0;
  ASSERT_EQ(m.memory.allocate(1, MemoryKind::device, &address), Status::ok);
  EXPECT_EQ(m.memory.info().used_bytes, 514 * MiB);
  EXPECT_EQ(m.memory.info().free_bytes, 8 * GiB - 514 * MiB);
}

TEST(DeviceMemory, SizeZeroIsANullPointer) {
  Memory m;
  Address address = 1;
  EXPECT_EQ(m.memory.allocate(0, MemoryKind::device, &address), Status::ok);
  EXPECT_EQ(address, 0u);
}

TEST(DeviceMemory, RefusesWhatDoesNotFitAndTakesWhatJustFits) {
  Memory m;
  Address address = 0;
  EXPECT_EQ(m.memory.allocate(8 * GiB - 510 * MiB, MemoryKind::device, &address), Status::out_of_memory);
  EXPECT_EQ(m.memory.allocate(8 * GiB - 512 * MiB, MemoryKind::device, &address), Status::ok);
  EXPECT_EQ(m.memory.info().free_bytes, 0u);
  EXPECT_EQ(m.memory.allocate(UINT64_MAX, MemoryKind::device, &address), Status::out_of_memory);
}

TEST(DeviceMemory, UnlimitedChargesButNeverRefuses) {
  Memory m;
  m.profile.unlimited = true;
  Address address = 0;
  EXPECT_EQ(m.memory.allocate(50 * GiB, MemoryKind::device, &address), Status::ok);
  EXPECT_EQ(m.memory.info().total_bytes, 8 * GiB);
  EXPECT_EQ(m.memory.info().free_bytes, 0u);
  EXPECT_EQ(m.memory.info().used_bytes, 50 * GiB + 512 * MiB);
}

TEST(DeviceMemory, DoubleFreeAndForeignPointersAreInvalid) {
  Memory m;
  Address address = 0;
  m.memory.allocate(4 * MiB, MemoryKind::device, &address);
  EXPECT_EQ(m.memory.release(address + 512, &m.freed, &m.kind), Status::invalid_value);
  EXPECT_EQ(m.memory.release(address, &m.freed, &m.kind), Status::ok);
  EXPECT_EQ(m.memory.release(address, &m.freed, &m.kind), Status::invalid_value);
}

TEST(DeviceMemory, MemoryReadsAsZerosAlsoAfterReuse) {
  Memory m;
  Address address = 0;
  m.memory.allocate(2 * MiB, MemoryKind::device, &address);
  std::memset(reinterpret_cast<void*>(address), 7, 4096);
  m.memory.release(address, &m.freed, &m.kind);
  Address again = 0;
  m.memory.allocate(2 * MiB, MemoryKind::device, &again);
  ASSERT_EQ(again, address);
  EXPECT_EQ(*reinterpret_cast<const char*>(again), 0);
}

TEST(DeviceMemory, PhysicalMemoryIsChargedWhenCreatedAndFreedWhenUnmapped) {
  Memory m;
  Address address = 0;
  ASSERT_EQ(m.memory.reserve_addresses(40 * MiB, 0, &address), Status::ok);
  EXPECT_EQ(m.memory.charged(), 0u);
  ASSERT_EQ(m.memory.create_physical(20 * MiB, 77), Status::ok);
  EXPECT_EQ(m.memory.charged(), 20 * MiB);
  ASSERT_EQ(m.memory.map(address, 20 * MiB, 0, 77), Status::ok);
  EXPECT_EQ(m.memory.map(address, 20 * MiB, 0, 77), Status::already_mapped);
  ASSERT_EQ(m.memory.release_physical(77, &m.freed), Status::ok);
  EXPECT_EQ(m.memory.charged(), 20 * MiB) << "a mapping keeps it";
  EXPECT_EQ(m.memory.find(address + 5 * MiB).base, address);
  ASSERT_EQ(m.memory.unmap(address, 20 * MiB), Status::ok);
  EXPECT_EQ(m.memory.charged(), 0u);
  EXPECT_EQ(m.memory.release_addresses(address, 40 * MiB), Status::ok);
}

TEST(DeviceMemory, MapsOnlyInsideAReservation) {
  Memory m;
  m.memory.create_physical(2 * MiB, 5);
  EXPECT_EQ(m.memory.map(1ull << 30, 2 * MiB, 0, 5), Status::invalid_value);
}

TEST(DeviceMemory, ManagedMemoryHasItsOwnAccount) {
  Memory m;
  Address address = 0;
  EXPECT_EQ(m.memory.allocate(20 * GiB, MemoryKind::managed, &address), Status::ok);
  EXPECT_EQ(m.memory.charged(), 0u);
  EXPECT_EQ(m.memory.managed(), 20 * GiB);
}

// Whatever is allocated and freed, the account is the sum of the living blocks.
RC_GTEST_PROP(DeviceMemory, TheAccountAddsUp, ()) {
  Memory m;
  std::map<Address, std::uint64_t> living;
  std::uint64_t sum = 0, peak = 0;
  const auto program = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 1 << 30));
  for (const std::uint32_t bytes : program) {
    if (bytes % 3 == 0 && !living.empty()) {
      const auto victim = living.begin();
      RC_ASSERT(m.memory.release(victim->first, &m.freed, &m.kind) == Status::ok);
      RC_ASSERT(m.freed == victim->second);
      sum -= victim->second;
      living.erase(victim);
      continue;
    }
    Address address = 0;
    if (m.memory.allocate(bytes, MemoryKind::device, &address) != Status::ok || address == 0) continue;
    living[address] = (bytes + 2 * MiB - 1) / (2 * MiB) * (2 * MiB);
    sum += living[address];
    peak = std::max(peak, sum);
    RC_ASSERT(sum <= 8 * GiB - 512 * MiB);
  }
  RC_ASSERT(m.memory.charged() == sum && m.memory.peak() == peak);
}

}  // namespace
