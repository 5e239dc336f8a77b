// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/cupti/clock.hpp"

#include <cerrno>
#include <cmath>
#include <ctime>

namespace ullage::vgpu::cupti {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

std::uint64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * second + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

std::uint64_t steady_now() {
  return read_clock(CLOCK_MONOTONIC);
}

void sleep_until(std::uint64_t steady_ns) {
  timespec until{};
  until.tv_sec = static_cast<time_t>(steady_ns / second);
  until.tv_nsec = static_cast<long>(steady_ns % second);
  while (steady_now() < steady_ns && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

TickConverter::TickConverter(TimestampCallback callback) : callback_(callback), first_(take()) {}

std::uint64_t TickConverter::now() const {
  return callback_ != nullptr ? callback_() : read_clock(CLOCK_REALTIME);
}

// Of several readings the one whose two halves were closest: an interruption between them would shift the trace.
TickConverter::Sample TickConverter::take() const {
  Sample best;
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = steady_now(), ticks = now(), after = steady_now();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + shortest / 2, ticks};
  }
  return best;
}

void TickConverter::sample() {
  const Sample second_sample = take();
  if (second_sample.ns <= first_.ns || second_sample.ticks <= first_.ticks) return;
  ticks_per_ns_ =
      static_cast<double>(second_sample.ticks - first_.ticks) / static_cast<double>(second_sample.ns - first_.ns);
}

std::uint64_t TickConverter::ticks(std::uint64_t steady_ns) const {
  const auto difference = static_cast<double>(static_cast<std::int64_t>(steady_ns - first_.ns));
  return first_.ticks + static_cast<std::uint64_t>(std::llround(difference * ticks_per_ns_));
}

}  // namespace ullage::vgpu::cupti
