// SPDX-License-Identifier: Apache-2.0
#include "cost/kernel/kernel_cost.hpp"

#include <algorithm>

namespace ullage::cost {
namespace {

constexpr double fixed_seconds = 2e-6;
constexpr double gemm_efficiency = 0.6;
constexpr double bandwidth_efficiency = 0.8;
constexpr double bytes_per_thread = 32;

bool crosses_link(const Work& work) {
  return work.kind == Work::Kind::copy && work.direction != ulog::Direction::device_to_device;
}

}  // namespace

std::uint64_t CrudeKernelCost::duration_ns(const Work& work) const {
  const double bytes = work.bytes > 0 ? work.bytes : static_cast<double>(work.threads) * bytes_per_thread;
  const double bandwidth = crosses_link(work) ? rates_.link_bandwidth : rates_.memory_bandwidth;
  const double seconds =
      std::max(work.flops / (rates_.matrix_flops * gemm_efficiency), bytes / (bandwidth * bandwidth_efficiency));
  return static_cast<std::uint64_t>((seconds + fixed_seconds) * 1e9);
}

}  // namespace ullage::cost
