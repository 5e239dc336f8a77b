// SPDX-License-Identifier: Apache-2.0
// The clock of the records: the host's nanoseconds, and the ticks in which the profiler wants them.
#pragma once

#include <cstdint>

namespace ullage::vgpu::cupti {

/// Nanoseconds of the host's steady clock.
std::uint64_t steady_now();
/// Returns at this time of the steady clock.
void sleep_until(std::uint64_t steady_ns);

/// Gives a time in the profiler's own unit; a null pointer stands for nanoseconds since 1970.
using TimestampCallback = std::uint64_t (*)();

/// Ticks advance evenly: two samples of both clocks make the conversion, and the further apart the more exact it is.
class TickConverter {
 public:
  /// Takes the first sample.
  explicit TickConverter(TimestampCallback callback = nullptr);
  /// Takes the second one; times are converted with it from now on.
  void sample();
  std::uint64_t ticks(std::uint64_t steady_ns) const;
  /// The present time in ticks.
  std::uint64_t now() const;

 private:
  struct Sample {
    std::uint64_t ns = 0, ticks = 0;
  };
  Sample take() const;

  TimestampCallback callback_;
  Sample first_;
  double ticks_per_ns_ = 1;
};

}  // namespace ullage::vgpu::cupti
