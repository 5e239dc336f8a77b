// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/vgpu/fixture.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

using namespace ullage::vgpu;
using namespace ullage::vgpu::test;

namespace {

void* pointer(Address address) {
  return reinterpret_cast<void*>(address);
}

TEST(Machine, SmallTransfersAreReal) {
  LocalMachine machine(options());
  Address device = 0;
  machine.allocate(4096, MemoryKind::device, &device);
  const std::array<int, 3> sent{1, 2, 3};
  std::array<int, 3> got{};
  machine.copy(pointer(device), sent.data(), sizeof(sent), 0, true);
  machine.copy(got.data(), pointer(device), sizeof(got), 0, true);
  EXPECT_EQ(got, sent);
}

TEST(Machine, AReadOfNothingComputedGivesZeros) {
  LocalMachine machine(options());
  Address device = 0;
  machine.allocate(4096, MemoryKind::device, &device);
  int got = 7;
  machine.copy(&got, pointer(device), sizeof(got), 0, true);
  EXPECT_EQ(got, 0);
}

TEST(Machine, ALargeTransferMovesNothingAndFillsTheHostWithZeros) {
  LocalMachine machine(options());
  constexpr std::uint64_t bytes = 2 << 20;
  Address device = 0;
  machine.allocate(bytes, MemoryKind::device, &device);
  std::vector<char> host(bytes, 5);
  machine.copy(pointer(device), host.data(), host.size(), 0, true);
  EXPECT_EQ(*static_cast<char*>(pointer(device)), 0);
  machine.copy(host.data(), pointer(device), host.size(), 0, true);
  EXPECT_EQ(host[12345], 0);
}

TEST(Machine, AnUploadOfAMebibyteIsReal) {
  LocalMachine machine(options());
  constexpr std::uint64_t bytes = 1 << 20;
  Address device = 0;
  machine.allocate(bytes, MemoryKind::device, &device);
  std::vector<char> host(bytes, 5);
  machine.copy(pointer(device), host.data(), host.size(), 0, true);
  EXPECT_EQ(static_cast<char*>(pointer(device))[bytes - 1], 5);
  EXPECT_TRUE(machine.is_known(device, bytes));
}

TEST(Machine, ACopyToAForeignDeviceAddressIsRefused) {
  auto made = options();
  const Address base = made.base;
  LocalMachine machine(std::move(made));
  int value = 0;
  EXPECT_EQ(machine.copy(pointer(base + 4096), &value, 4, 0, true), Status::invalid_value);
  EXPECT_EQ(machine.fill(pointer(base + 4096), 0, 1, 4, 0), Status::invalid_value);
}

TEST(Machine, MemsetIsReal) {
  LocalMachine machine(options());
  Address device = 0;
  machine.allocate(4096, MemoryKind::device, &device);
  machine.fill(pointer(device), 0xab, 1, 8, 0);
  unsigned char got = 0;
  machine.copy(&got, pointer(device + 7), 1, 0, true);
  EXPECT_EQ(got, 0xab);
}

TEST(Machine, PinnedRangesAreKnown) {
  LocalMachine machine(options());
  void* pinned = nullptr;
  ASSERT_EQ(machine.allocate_pinned(8192, &pinned), Status::ok);
  EXPECT_EQ(machine.pointer_info(static_cast<char*>(pinned) + 100).kind, PointerInfo::Kind::host);
  EXPECT_EQ(machine.register_host(pinned, 100), Status::already_mapped);
  EXPECT_EQ(machine.free_pinned(pinned), Status::ok);
  EXPECT_EQ(machine.free_pinned(pinned), Status::invalid_value);
  int local = 0;
  EXPECT_EQ(machine.pointer_info(&local).kind, PointerInfo::Kind::unregistered);
  EXPECT_EQ(machine.unregister_host(&local), Status::invalid_value);
}

TEST(Machine, HandlesAreUnique) {
  LocalMachine machine(options());
  std::set<std::uint64_t> handles;
  for (int i = 0; i < 1000; ++i) handles.insert(machine.new_handle());
  EXPECT_EQ(handles.size(), 1000u);
  EXPECT_FALSE(handles.contains(0));
}

TEST(Machine, EveryRunGivesTheSameAddresses) {
  std::vector<Address> first;
  const auto made = options();
  for (int run = 0; run < 2; ++run) {
    auto again = made;
    again.base = run == 0 ? made.base : next_base();
    LocalMachine machine(again);
    for (int i = 0; i < 20; ++i) {
      Address address = 0;
      machine.allocate((static_cast<std::uint64_t>(i) % 7 + 1) * 10 * MiB, MemoryKind::device, &address);
      if (run == 0)
        first.push_back(address - made.base);
      else
        EXPECT_EQ(address - again.base, first[static_cast<std::size_t>(i)]);
    }
  }
}

TEST(Machine, TheFirstProcessOwnsTheRunAndWritesItsLog) {
  const auto directory = std::filesystem::temp_directory_path() / ("ullage-machine-test-" + std::to_string(getpid()));
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);
  auto made = options();
  made.run_directory = directory.string();
  LocalMachine first(made);
  EXPECT_FALSE(first.owns_run());
  Address device = 0;
  first.allocate(1, MemoryKind::device, &device);
  EXPECT_TRUE(first.owns_run());
  made.base = next_base();
  LocalMachine second(made);
  second.allocate(1, MemoryKind::device, &device);
  EXPECT_FALSE(second.owns_run());
  first.flush_log();
  EXPECT_GT(std::filesystem::file_size(directory / "device.ulog"), 100u);
}

TEST(Machine, ThreadsMayCallAtOnce) {
  LocalMachine machine(options());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&machine] {
      const StreamId stream = machine.create_stream(0, 0);
      const EventId event = machine.create_event(0);
      for (int i = 0; i < 500; ++i) {
        Address address = 0;
        ASSERT_EQ(machine.allocate(2 * MiB, MemoryKind::device, &address), Status::ok);
        KernelLaunch launch;
        launch.name = "_Z1kv";
        machine.launch(launch, stream);
        machine.record_event(event, stream);
        machine.query_event(event);
        ASSERT_EQ(machine.release(address), Status::ok);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(machine.memory_info().used_bytes, 512 * MiB);
}

}  // namespace
