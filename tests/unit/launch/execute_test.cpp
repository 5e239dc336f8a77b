// SPDX-License-Identifier: Apache-2.0
#include "launch/execute.hpp"

#include "launch/installation.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace ullage {
namespace {

// The status of a child that becomes the command; 200 + kind where it could not.
int status_of(const std::vector<std::string>& argv,
              const std::map<std::string, std::optional<std::string>>& environment) {
  const pid_t pid = fork();
  if (pid == 0) _exit(200 + static_cast<int>(execute(argv, environment).kind));
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(Execute, IsTheCommandFromThenOn) {
  EXPECT_EQ(status_of({"sh", "-c", "exit 7"}, {}), 7);
  EXPECT_EQ(status_of({"sh", "-c", "kill -TERM $$"}, {}), -SIGTERM);
  EXPECT_EQ(status_of({"sh", "-c", "test \"$ULLAGE_A\" = 1 -a -z \"$HOME\""}, {{"ULLAGE_A", "1"}, {"HOME", {}}}), 0);
}

TEST(Execute, SaysWhatCannotBeRun) {
  const int usage = 200 + static_cast<int>(ErrorKind::usage);
  EXPECT_EQ(status_of({}, {}), usage);
  EXPECT_EQ(status_of({"no-such-program"}, {}), usage);
  EXPECT_EQ(status_of({"/"}, {}), usage);
}

TEST(RecordingEnvironment, PutsTheHookInFrontAndTellsWhatWasGiven) {
  setenv("PYTHONPATH", "/mine", 1);
  RecordingSettings settings;
  settings.history = "3";
  const auto changes = recording_environment("/hook", settings);
  EXPECT_EQ(changes.at("PYTHONPATH"), "/hook:/mine");
  EXPECT_EQ(changes.at("ULLAGE_RECORD"), "1");
  EXPECT_EQ(changes.at("ULLAGE_RECORD_HISTORY"), "3");
  EXPECT_FALSE(changes.contains("ULLAGE_RECORD_DIR"));
}

}  // namespace
}  // namespace ullage
