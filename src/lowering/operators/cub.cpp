// SPDX-License-Identifier: Apache-2.0
#include "lowering/operators/cub.hpp"

#include "lowering/operators/arithmetic.hpp"

namespace ullage::lowering {
namespace {

int architecture_of(const DeviceFacts& device) {
  return 10 * device.compute_major + device.compute_minor;
}

std::int64_t aligned(std::int64_t bytes) {
  return round_up(bytes, 256);
}

/// Blocks that look back at each other's state: twice a value for each and for 32 more.
std::uint64_t look_back_bytes(std::int64_t elements, std::int64_t tile, std::int64_t width = 8) {
  return static_cast<std::uint64_t>(aligned(2 * width * (divide_up(elements, tile) + 32)) + 256 + 255);
}

}  // namespace

// a second buffer of keys and of values, histograms, and the state of each block
std::uint64_t sort_bytes(const DeviceFacts& device, std::int64_t pairs) {
  const int architecture = architecture_of(device);
  const std::int64_t tile = architecture < 80 ? 2816 : architecture < 90 ? 3840 : 4608;
  return static_cast<std::uint64_t>(2 * aligned(8 * pairs) + 1024 * divide_up(pairs, tile) + 16384 + 511);
}

std::uint64_t unique_bytes(const DeviceFacts& device, std::int64_t elements) {
  const int architecture = architecture_of(device);
  const std::int64_t tile = architecture == 80 ? 1792 : architecture < 90 ? 320 : architecture < 100 ? 4608 : 3840;
  return look_back_bytes(elements, tile);
}

std::uint64_t scan_bytes(std::int64_t elements, std::int64_t width) {
  return look_back_bytes(elements, 7168 / width, width);
}

}  // namespace ullage::lowering
