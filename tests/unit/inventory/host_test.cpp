// SPDX-License-Identifier: Apache-2.0
#include "inventory/host.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ullage::inventory {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t gib = 1ull << 30;

/// A folder that stands for `/` of another machine.
class HostOf : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("ullage_host_" + std::to_string(getpid()));
    write("/proc/meminfo", "MemTotal:       67108864 kB\nMemFree: 1 kB\nMemAvailable:   50331648 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const fs::path file(root_.string() + path);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string root() const { return root_.string(); }

 private:
  fs::path root_;
};

TEST_F(HostOf, MemoryWithoutALimit) {
  const auto memory = host_memory(root()).value();
  EXPECT_EQ(memory.total_bytes, 64 * gib);
  EXPECT_EQ(memory.available_bytes, 48 * gib);
  EXPECT_FALSE(memory.limit_bytes);
}

TEST_F(HostOf, TheNearestLimitOfAControlGroupHolds) {
  write("/proc/self/cgroup", "0::/jobs/mine\n");
  write("/sys/fs/cgroup/jobs/mine/memory.max", "max\n");
  write("/sys/fs/cgroup/jobs/memory.max", std::to_string(16 * gib) + "\n");
  write("/sys/fs/cgroup/jobs/memory.current", std::to_string(10 * gib) + "\n");
  write("/sys/fs/cgroup/jobs/memory.stat", "anon 5\ninactive_file " + std::to_string(4 * gib) + "\n");
  const auto memory = host_memory(root()).value();
  EXPECT_EQ(memory.limit_bytes, 16 * gib);
  EXPECT_EQ(memory.available_bytes, 10 * gib) << "16 less the 6 that the kernel cannot take back";
}

TEST_F(HostOf, ALimitInsideAContainerStandsAtTheTop) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", std::to_string(8 * gib));
  write("/sys/fs/cgroup/memory.current", std::to_string(9 * gib));
  const auto memory = host_memory(root()).value();
  EXPECT_EQ(memory.limit_bytes, 8 * gib);
  EXPECT_EQ(memory.available_bytes, 0u);
}

TEST_F(HostOf, TheFirstVersionOfControlGroups) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/docker/a\n4:memory:/docker/a\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(4 * gib));
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(1 * gib));
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  write("/proc/cpuinfo", "processor : 0\n\nprocessor : 1\n");
  const auto memory = host_memory(root()).value();
  EXPECT_EQ(memory.limit_bytes, 4 * gib);
  EXPECT_EQ(memory.available_bytes, 3 * gib);
  EXPECT_EQ(processor(root()).usable_threads, 1.5);
}

TEST_F(HostOf, NoLimitIsANumberAboveTheMemory) {
  write("/proc/self/cgroup", "4:memory:/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_FALSE(host_memory(root()).value().limit_bytes);
}

TEST_F(HostOf, AnOddGroupPathIsNotFollowed) {
  write("/proc/self/cgroup", "0::/../../x\n");
  write("/sys/fs/cgroup/memory.max", std::to_string(8 * gib));
  EXPECT_EQ(host_memory(root()).value().limit_bytes, 8 * gib);
}

TEST_F(HostOf, CoresAndThreads) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += "processor\t: " + std::to_string(i) +
            "\nmodel name\t: Some CPU @ 2 GHz\nphysical id\t: " + std::to_string(i / 4) +
            "\ncore id\t\t: " + std::to_string(i % 2) + "\n\n";
  write("/proc/cpuinfo", text);
  write("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  const Processor found = processor(root());
  EXPECT_EQ(found.model, "Some CPU @ 2 GHz");
  EXPECT_EQ(found.cores, 4u);
  EXPECT_EQ(found.threads, 8u);
  EXPECT_EQ(found.usable_threads, 3);
}

TEST_F(HostOf, WhatIsNotToldIsAnErrorOrAbsent) {
  const auto memory = host_memory(root() + "/nowhere");
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(processor(root() + "/nowhere").threads, 0u);
  EXPECT_EQ(disk(root() + "/nowhere").error().kind, ErrorKind::io);
}

TEST(Host, OfThisMachine) {
  const auto memory = host_memory();
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->available_bytes, 0u);
  EXPECT_LE(memory->available_bytes, memory->limit_bytes.value_or(memory->total_bytes));
  const Processor found = processor();
  EXPECT_GE(found.threads, 1u);
  EXPECT_GT(found.usable_threads, 0);
  const auto here = disk(".");
  ASSERT_TRUE(here);
  EXPECT_GE(here->total_bytes, here->free_bytes);
}

}  // namespace
}  // namespace ullage::inventory
