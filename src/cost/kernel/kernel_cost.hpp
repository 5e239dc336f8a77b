// SPDX-License-Identifier: Apache-2.0
// How long one piece of device work takes. The interface is final, the first model is crude: it exists so that the
// virtual clock orders streams sensibly, not to predict a step time.
#pragma once

#include <cstdint>

#include "base/ulog.hpp"

namespace ullage::cost {

/// Device work of one call.
struct Work {
  enum class Kind { kernel, gemm, copy, fill, collective, other } kind = Kind::other;
  double flops = 0;
  double bytes = 0;           ///< device memory traffic, or bytes on the link for a copy
  std::uint64_t threads = 0;  ///< launched threads, where the bytes are not known
  ulog::Direction direction = ulog::Direction::device_to_device;
};

/// The rates of one GPU, per second.
struct Rates {
  double memory_bandwidth = 1.5e12;  ///< bytes
  double matrix_flops = 312e12;      ///< dense 16-bit matrix peak
  double link_bandwidth = 25e9;      ///< host link, one direction, bytes
};

class KernelCost {
 public:
  virtual ~KernelCost() = default;
  /// Duration in nanoseconds, at least 1.
  virtual std::uint64_t duration_ns(const Work& work) const = 0;
};

/// GEMM at 0.6 of the peak, memory at 0.8 of the bandwidth, 2 us fixed. A kernel of unknown traffic moves 32 bytes a
/// thread: a vectorised element-wise kernel reads and writes four 4-byte elements a thread.
class CrudeKernelCost final : public KernelCost {
 public:
  explicit CrudeKernelCost(Rates rates) : rates_(rates) {}
  std::uint64_t duration_ns(const Work& work) const override;

 private:
  Rates rates_;
};

}  // namespace ullage::cost
