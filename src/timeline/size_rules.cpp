// SPDX-License-Identifier: Apache-2.0
#include "timeline/size_rules.hpp"

#include <algorithm>
#include <bit>

namespace ullage::timeline {

namespace {

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::uint32_t divisions_for(std::uint64_t bytes, const AllocatorSettings& settings) {
  const int log2 = static_cast<int>(std::bit_width(bytes)) - 1;
  return settings.roundup_power2_divisions[static_cast<std::size_t>(std::clamp(log2 - 20, 0, 15))];
}

std::uint64_t next_division(std::uint64_t bytes, std::uint32_t divisions) {
  if (std::has_single_bit(bytes)) return bytes;
  const std::uint64_t floor = std::bit_floor(bytes);
  const std::uint64_t step = floor >> (std::bit_width(divisions) - 1);
  return step == 0 ? 2 * floor : round_up(bytes, step);
}

}  // namespace

std::uint64_t round_size(std::uint64_t bytes, const AllocatorSettings& settings) {
  if (bytes < min_block_bytes) return min_block_bytes;
  const std::uint32_t divisions = divisions_for(bytes, settings);
  if (divisions > 1 && bytes > min_block_bytes * divisions) return next_division(bytes, divisions);
  return round_up(bytes, min_block_bytes);
}

bool should_split(std::uint64_t rounded, std::uint64_t remainder, bool small, bool expandable,
                  const AllocatorSettings& settings) {
  if (small || expandable) return remainder >= min_block_bytes;
  return rounded < settings.max_split_bytes && remainder > small_bytes;
}

}  // namespace ullage::timeline
