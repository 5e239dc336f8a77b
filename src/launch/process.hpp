// SPDX-License-Identifier: Apache-2.0
// Starting a command, watching it, and leaving nothing of it behind. Linux only.
#pragma once

#include "base/result.hpp"
#include "launch/memory_watch.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ullage {

/// What to start and how.
struct LaunchOptions {
  std::vector<std::string> argv;  ///< the command and its arguments; argv[0] is looked up in PATH
  /// Changes to this process's environment: a value sets a variable, an empty optional removes it.
  std::map<std::string, std::optional<std::string>> environment;
  std::string working_directory;            ///< empty: this process's
  std::chrono::milliseconds time_limit{0};  ///< 0: none. Counted in wall time
  std::string stdout_log;                   ///< path; empty: no log
  std::string stderr_log;                   ///< path; empty: no log
  int live_fd = -1;                         ///< both outputs are also copied here, as they come; -1: nowhere
  std::chrono::milliseconds settle{
      300};  ///< after the command's own end, time for its other processes to end by themselves
  std::chrono::milliseconds grace{5000};  ///< between the request to end (SIGTERM) and the end by force (SIGKILL)
};

/// How it went.
struct LaunchOutcome {
  int exit_status = 0;                ///< as a shell counts: 128 + signal when a signal ended the command
  int signal = 0;                     ///< the signal that ended it, or 0
  bool timed_out = false;             ///< the time limit was reached and the command was ended
  bool interrupted = false;           ///< this process got SIGINT, SIGTERM or SIGHUP meanwhile
  std::size_t stragglers = 0;         ///< processes that outlived the command and were ended
  std::vector<std::string> problems;  ///< a log that could not be written, a process that would not end
  std::chrono::milliseconds wall{0};
  MemoryRecord memory;  ///< host memory of the command's processes
};

/// Runs the command to its end. Its stdin is this process's; it stays in this process group, so that a terminal reaches
/// it.
///
/// No process survives: this process becomes the reaper of orphans, and whatever descends from the command is ended
/// after it, also what has left its session. A log that fails (a full disk) is given up and reported, the command goes
/// on. SIGINT, SIGTERM and SIGHUP are passed on (those that a terminal sent have reached the command already); the
/// command then has `grace` to end, a second one ends it at once. Reaps every child of this process while it runs: for
/// programs that have no other children.
///
/// Errors: `usage` when the command or the working directory is not found or may not be executed; `io` when no process
/// or pipe can be made; `unsupported` when not on Linux.
[[nodiscard]] Result<LaunchOutcome> launch(const LaunchOptions& options);

}  // namespace ullage
