// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/descriptor.hpp"

#include <csignal>
#include <vector>

namespace ullage {

/// A request to stop that this process got.
struct StopSignal {
  int number;
  bool from_terminal;  ///< the kernel sent it to the whole foreground group: the command has it already
};

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGCHLD are read from a descriptor instead of being delivered, and a
/// write into a closed pipe is an error instead of a signal. Signals that were ignored before stay ignored.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Takes what has arrived; SIGCHLD only wakes.
  [[nodiscard]] std::vector<StopSignal> take();
  /// In a child after fork: gives it the signal handling that this process had before. Async-signal-safe.
  void restore() const;

 private:
  Descriptor fd_;
  sigset_t old_mask_{};
  struct sigaction old_pipe_ {};
  struct sigaction old_child_ {};
};

}  // namespace ullage
