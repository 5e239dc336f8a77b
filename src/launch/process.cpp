// SPDX-License-Identifier: Apache-2.0
#include "launch/process.hpp"

#include "launch/child.hpp"
#include "launch/descendants.hpp"
#include "launch/stream_copy.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <limits>

namespace ullage {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// One command from its start to the end of its last process:
//   running -> settling (it has ended) -> terminating (SIGTERM sent) -> killing (SIGKILL sent) -> done
// with shortcuts: no process left, the time limit, an interrupt.
class Session {
 public:
  Session(const LaunchOptions& options, SignalWatch& signals, Child child)
      : options_(options),
        signals_(signals),
        pid_(child.pid),
        out_(std::move(child.out), Sink::file(options.stdout_log, outcome_.problems), Sink::borrowed(options.live_fd)),
        err_(std::move(child.err), Sink::file(options.stderr_log, outcome_.problems), Sink::borrowed(options.live_fd)) {
    if (options.time_limit > milliseconds(0)) deadline_ = begin_ + options.time_limit;
  }

  LaunchOutcome run() {
    while (phase_ != Phase::done) {
      wait();
      copy_outputs();
      for (const StopSignal& signal : signals_.take()) interrupt(signal);
      reap();
      if (phase_ == Phase::running) memory_.look();
      advance();
    }
    drain();
    outcome_.memory = memory_.take();
    outcome_.wall = std::chrono::duration_cast<milliseconds>(Clock::now() - begin_);
    return std::move(outcome_);
  }

 private:
  enum class Phase { running, settling, terminating, killing, done };

  void wait() {
    std::array<pollfd, 3> sources{{{out_.fd(), POLLIN, 0}, {err_.fd(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}}};
    poll(sources.data(), sources.size(), patience());
  }

  // How long to wait for something to happen, in milliseconds.
  int patience() const {
    if (phase_ != Phase::running) return 10;
    auto left = memory_.wait();
    if (deadline_ != Clock::time_point::max())
      left = std::min(left, std::chrono::ceil<milliseconds>(deadline_ - Clock::now()));
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
  }

  void copy_outputs() {
    out_.copy_available(outcome_.problems);
    err_.copy_available(outcome_.problems);
  }

  // Every writer is gone, so what is left fits the pipes: a bound keeps a foreign holder of a pipe from being waited
  // for.
  void drain() {
    for (int i = 0; i < 4; ++i) copy_outputs();
  }

  void interrupt(const StopSignal& signal) {
    if (outcome_.interrupted) return enter(Phase::killing, options_.grace);
    outcome_.interrupted = true;
    if (phase_ != Phase::running) return;
    if (!signal.from_terminal) kill(pid_, signal.number);
    enter(Phase::terminating, options_.grace);
  }

  // Takes the status of the command and of orphans that ended.
  void reap() {
    int status = 0;
    for (pid_t ended = waitpid(-1, &status, WNOHANG); ended > 0; ended = waitpid(-1, &status, WNOHANG)) {
      if (ended == pid_) note_end(status);
    }
  }

  void note_end(int status) {
    ended_ = true;
    outcome_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome_.exit_status = WIFSIGNALED(status) ? 128 + outcome_.signal : WEXITSTATUS(status);
    if (phase_ == Phase::running) enter(Phase::settling, options_.settle);
  }

  void advance() {
    const bool late = Clock::now() >= deadline_;
    if (phase_ == Phase::running) {
      if (late) time_out();
      return;
    }
    const std::vector<pid_t> left = living_descendants();
    if (ended_ && left.empty()) {
      phase_ = Phase::done;
    } else if (phase_ == Phase::killing) {
      late ? abandon(left.size()) : send_signal(left, SIGKILL);
    } else if (late) {
      press(left);
    }
  }

  void time_out() {
    outcome_.timed_out = true;
    send_signal(living_descendants(), SIGTERM);
    enter(Phase::terminating, options_.grace);
  }

  // The next, ruder request.
  void press(const std::vector<pid_t>& left) {
    if (phase_ == Phase::settling) {
      outcome_.stragglers = left.size();
      send_signal(left, SIGTERM);
      return enter(Phase::terminating, options_.grace);
    }
    send_signal(left, SIGKILL);
    enter(Phase::killing, options_.grace);
  }

  void abandon(std::size_t count) {
    outcome_.problems.push_back(std::to_string(count) + " processes of the command could not be ended");
    phase_ = Phase::done;
  }

  void enter(Phase phase, milliseconds time) {
    phase_ = phase;
    deadline_ = Clock::now() + time;
  }

  const LaunchOptions& options_;
  SignalWatch& signals_;
  LaunchOutcome outcome_;
  pid_t pid_;
  MemoryWatch memory_{living_descendants};
  StreamCopy out_;
  StreamCopy err_;
  Phase phase_ = Phase::running;
  bool ended_ = false;  ///< the command itself has ended
  Clock::time_point begin_ = Clock::now();
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace

Result<LaunchOutcome> launch(const LaunchOptions& options) {
  if (options.argv.empty()) {
    return fail(ErrorKind::usage, "a command to run is missing", {}, "-- COMMAND ...",
                "for example: -- python train.py");
  }
  const Reaper reaper;
  SignalWatch signals;
  auto child = start_child(options, signals);
  if (!child) return tl::unexpected(child.error());
  return Session(options, signals, std::move(*child)).run();
}

}  // namespace ullage
