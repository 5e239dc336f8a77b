// SPDX-License-Identifier: Apache-2.0
#include "launch/memory_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace ullage {
namespace {

namespace fs = std::filesystem;

// A folder that looks like /proc.
class MemoryWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("memory_watch_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Sizes in KiB.
  void process(pid_t pid, int anonymous, int files, int pss_anonymous) {
    const fs::path own = folder_ / std::to_string(pid);
    fs::create_directories(own);
    std::ofstream(own / "status") << "Name:\tp" << pid << "\nVmHWM:\t" << anonymous + files << " kB\nRssAnon:\t"
                                  << anonymous << " kB\nRssFile:\t" << files << " kB\nRssShmem:\t0 kB\n";
    std::ofstream(own / "smaps_rollup") << "Anonymous: " << anonymous << " kB\nPss_Anon: " << pss_anonymous
                                        << " kB\nPss_Shmem: 0 kB\nShared_Dirty: " << anonymous << " kB\n";
  }

  void look_for(MemoryWatch& watch, int milliseconds) {
    const auto end = MemoryWatch::Clock::now() + std::chrono::milliseconds(milliseconds);
    while (MemoryWatch::Clock::now() < end) {
      watch.look();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  fs::path folder_;
};

TEST_F(MemoryWatchTest, OneProcessCountsWithAllItHolds) {
  process(7, 1000, 500, 1);
  MemoryWatch watch([] { return std::vector<pid_t>{7}; }, folder_.string());
  watch.look();
  const MemoryRecord record = watch.take();
  ASSERT_EQ(record.highs.size(), 1u);
  EXPECT_EQ(record.highs[0].bytes(), 1500u * 1024);
  EXPECT_EQ(record.processes.at(0).name, "p7");
}

TEST_F(MemoryWatchTest, AForkCountsWithWhatItHasBeyondItsParent) {
  process(7, 1000, 500, 500);
  process(8, 1200, 400, 700);
  MemoryWatch watch([] { return std::vector<pid_t>{7, 8}; }, folder_.string());
  watch.look();
  const MemoryRecord record = watch.take();
  EXPECT_EQ(record.highs.at(0).anonymous, 1200u * 1024);    // 1000 and 200
  EXPECT_EQ(record.highs.at(0).mapped_files, 500u * 1024);  // the same libraries
}

TEST_F(MemoryWatchTest, SharedPagesAreReadLater) {
  process(7, 1000, 0, 600);  // 800 of it shared by two
  process(8, 1200, 0, 800);
  MemoryWatch watch([] { return std::vector<pid_t>{7, 8}; }, folder_.string());
  look_for(watch, 700);
  const MemoryRecord record = watch.take();
  EXPECT_EQ(record.highs.back().anonymous, 1400u * 1024);
}

TEST_F(MemoryWatchTest, OnlyNewHighsAreKept) {
  process(7, 1000, 0, 1000);
  MemoryWatch watch([] { return std::vector<pid_t>{7}; }, folder_.string());
  look_for(watch, 200);
  process(7, 900, 0, 900);
  look_for(watch, 200);
  process(7, 1100, 0, 1100);
  look_for(watch, 200);
  const MemoryRecord record = watch.take();
  ASSERT_EQ(record.highs.size(), 2u);
  EXPECT_EQ(record.highs.back().anonymous, 1100u * 1024);
  EXPECT_GE(record.looks, 6u);
}

TEST_F(MemoryWatchTest, AProcessThatIsGoneIsNoError) {
  MemoryWatch watch([] { return std::vector<pid_t>{9}; }, folder_.string());
  watch.look();
  EXPECT_EQ(watch.take().processes.size(), 0u);
}

}  // namespace
}  // namespace ullage
