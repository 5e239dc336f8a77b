// SPDX-License-Identifier: Apache-2.0
#include "inventory/match.hpp"

#include "base/text.hpp"

#include <cmath>

namespace ullage::inventory {
namespace {

/// NVML's total is up to 7 % above what CUDA shows (ECC in GDDR memory, what the driver keeps).
constexpr double tolerance = 0.1;

double difference(const Gpu& gpu, const InstalledGpu& installed) {
  const auto capacity = static_cast<double>(gpu.capacity_bytes());
  return std::abs(static_cast<double>(installed.memory_bytes) - capacity) / capacity;
}

/// The nearest by memory of those that `belongs` takes; null for none.
template <class Belongs>
const Gpu* nearest(const InstalledGpu& installed, Belongs belongs) {
  const Gpu* found = nullptr;
  for (const Gpu& gpu : gpus())
    if (belongs(gpu) && (found == nullptr || difference(gpu, installed) < difference(*found, installed))) found = &gpu;
  return found;
}

}  // namespace

Match match(const InstalledGpu& installed) {
  const Gpu* same =
      nearest(installed, [&](const Gpu& gpu) { return equal_ignoring_case(gpu.cuda_name, installed.name); });
  if (same != nullptr && difference(*same, installed) <= tolerance) return {same, true, {}};
  if (same != nullptr) return {same, false, "another size of memory"};
  const Gpu* like = nearest(
      installed, [&](const Gpu& gpu) { return installed.compute_capability == std::pair(gpu.cc_major, gpu.cc_minor); });
  if (like == nullptr) return {};
  return {like, false, "another name, the same compute capability"};
}

}  // namespace ullage::inventory
