// SPDX-License-Identifier: Apache-2.0
#include "launch/signals.hpp"

#include <sys/signalfd.h>

namespace ullage {
namespace {

bool is_ignored(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(number)) sigaddset(&set, number);
  }
  return set;
}

void handle(int number, void (*handler)(int), struct sigaction* old) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, old);
}

}  // namespace

SignalWatch::SignalWatch() {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, &old_mask_);
  handle(SIGPIPE, SIG_IGN, &old_pipe_);
  handle(SIGCHLD, SIG_DFL, &old_child_);
  fd_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

SignalWatch::~SignalWatch() {
  (void)take();
  restore();
}

std::vector<StopSignal> SignalWatch::take() {
  std::vector<StopSignal> result;
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number != SIGCHLD) result.push_back({number, info.ssi_code == SI_KERNEL});
  }
  return result;
}

void SignalWatch::restore() const {
  sigaction(SIGPIPE, &old_pipe_, nullptr);
  sigaction(SIGCHLD, &old_child_, nullptr);
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

}  // namespace ullage
