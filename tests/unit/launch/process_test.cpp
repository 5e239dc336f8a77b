// SPDX-License-Identifier: Apache-2.0
#include "launch/process.hpp"

#include "launch/descendants.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ullage {
namespace {

using namespace std::chrono_literals;

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ullage-launch-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  LaunchOptions shell(const std::string& script) {
    LaunchOptions options;
    options.argv = {"sh", "-c", script};
    options.stdout_log = folder_ / "out";
    options.stderr_log = folder_ / "err";
    options.settle = 50ms;
    options.grace = 500ms;
    return options;
  }
  std::string read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST_F(Launch, KeepsBothOutputsAndTheStatus) {
  const auto outcome = launch(shell("echo to out; echo to err >&2; exit 3")).value();
  EXPECT_EQ(outcome.exit_status, 3);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(read("out"), "to out\n");
  EXPECT_EQ(read("err"), "to err\n");
  EXPECT_TRUE(outcome.problems.empty());
}

TEST_F(Launch, KeepsEveryByteOfALargeOutput) {
  const auto outcome = launch(shell("head -c 20000000 /dev/zero")).value();
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "out"), 20000000u);
}

TEST_F(Launch, SetsAndRemovesVariablesAndTheDirectory) {
  setenv("ULLAGE_TEST_GONE", "here", 1);
  auto options = shell("echo $ULLAGE_TEST_NEW-$ULLAGE_TEST_GONE; pwd");
  options.environment = {{"ULLAGE_TEST_NEW", "value"}, {"ULLAGE_TEST_GONE", std::nullopt}};
  options.working_directory = "/";
  ASSERT_TRUE(launch(options));
  EXPECT_EQ(read("out"), "value-\n/\n");
}

TEST_F(Launch, CopiesLive) {
  auto options = shell("echo one; echo two >&2");
  std::FILE* live = std::tmpfile();
  options.live_fd = fileno(live);
  ASSERT_TRUE(launch(options));
  std::rewind(live);
  char text[64] = {};
  EXPECT_EQ(std::fread(text, 1, sizeof text, live), 8u);
  std::fclose(live);
}

TEST_F(Launch, TellsASignalFromAnExit) {
  const auto outcome = launch(shell("kill -SEGV $$")).value();
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_EQ(outcome.exit_status, 128 + SIGSEGV);
  EXPECT_FALSE(outcome.interrupted);
}

TEST_F(Launch, AMissingCommandIsAUsageError) {
  LaunchOptions options;
  EXPECT_EQ(launch(options).error().kind, ErrorKind::usage);
  options.argv = {"ullage-no-such-command"};
  EXPECT_EQ(launch(options).error().what, "command not found");
  options.argv = {"/etc/passwd"};
  EXPECT_EQ(launch(options).error().what, "the command cannot be executed");
  options.argv = {"true"};
  options.working_directory = "/no/such/directory";
  EXPECT_EQ(launch(options).error().kind, ErrorKind::usage);
  EXPECT_TRUE(living_descendants().empty());
}

TEST_F(Launch, ATimeLimitEndsEverything) {
  auto options = shell("sleep 60 & sleep 60 & wait");
  options.time_limit = 200ms;
  const auto outcome = launch(options).value();
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGTERM);
  EXPECT_LT(outcome.wall, 5s);
  EXPECT_TRUE(living_descendants().empty());
}

TEST_F(Launch, ACommandThatIgnoresTheRequestIsKilled) {
  auto options = shell("trap '' TERM; while :; do sleep 0.05; done");
  options.time_limit = 200ms;
  const auto outcome = launch(options).value();
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_GE(outcome.wall, 700ms);
}

TEST_F(Launch, AStoppedCommandIsEndedToo) {
  auto options = shell("kill -STOP $$; sleep 60");
  options.time_limit = 200ms;
  EXPECT_TRUE(launch(options).value().timed_out);
}

TEST_F(Launch, NothingOutlivesTheCommand) {
  const auto outcome = launch(shell("setsid sh -c 'trap \"\" TERM; echo held; sleep 60' & sleep 0.2; exit 4")).value();
  EXPECT_EQ(outcome.exit_status, 4);
  EXPECT_GE(outcome.stragglers, 1u);
  EXPECT_LT(outcome.wall, 5s);
  EXPECT_EQ(read("out"), "held\n");
  EXPECT_TRUE(living_descendants().empty());
}

TEST_F(Launch, WhatEndsByItselfSoonIsNotAStraggler) {
  auto options = shell("(sleep 0.1; echo late) & exit 0");
  options.settle = 5s;
  const auto outcome = launch(options).value();
  EXPECT_EQ(outcome.stragglers, 0u);
  EXPECT_EQ(read("out"), "late\n");
}

TEST_F(Launch, AFullDiskIsReportedAndTheCommandGoesOn) {
  auto options = shell("echo lost; echo kept >&2; exit 0");
  options.stdout_log = "/dev/full";
  const auto outcome = launch(options).value();
  EXPECT_EQ(outcome.exit_status, 0);
  ASSERT_EQ(outcome.problems.size(), 1u);
  EXPECT_NE(outcome.problems[0].find("/dev/full"), std::string::npos);
  EXPECT_EQ(read("err"), "kept\n");
}

TEST_F(Launch, AClosedLiveCopyIsReportedAndTheCommandGoesOn) {
  auto options = shell("echo a; sleep 0.1; echo b");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  options.live_fd = ends[1];
  const auto outcome = launch(options).value();
  close(ends[1]);
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.problems.size(), 1u);
  EXPECT_EQ(read("out"), "a\nb\n");
}

TEST_F(Launch, AnInterruptIsPassedOnAndReported) {
  const auto outcome =
      launch(shell("trap 'echo got it; exit 9' INT; kill -INT $PPID; while :; do sleep 0.05; done")).value();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.exit_status, 9);
  EXPECT_EQ(read("out"), "got it\n");
}

TEST_F(Launch, AnInterruptThatIsIgnoredEndsByForce) {
  const auto outcome = launch(shell("trap '' TERM; kill -TERM $PPID; while :; do sleep 0.05; done")).value();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST_F(Launch, ASecondInterruptDoesNotWait) {
  auto options = shell("trap '' TERM; kill -TERM $PPID; sleep 0.2; kill -TERM $PPID; while :; do sleep 0.05; done");
  options.grace = 30s;
  const auto outcome = launch(options).value();
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_LT(outcome.wall, 5s);
}

}  // namespace
}  // namespace ullage
