// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/progress.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace ullage::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* cleared = "\r\x1b[K";

}  // namespace

Progress::Progress() : next_(Clock::now() + std::chrono::seconds(1)), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (said_) fmt::print(stderr, "{}", cleared);
}

void Progress::say(const std::string& text) {
  if (!terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  said_ = true;
  fmt::print(stderr, "{}{}", cleared, text);
  std::fflush(stderr);
}

}  // namespace ullage::cli
