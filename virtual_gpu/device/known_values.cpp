// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/known_values.hpp"

#include <algorithm>
#include <iterator>

namespace ullage::vgpu {

void KnownValues::set_known(std::uint64_t start, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::uint64_t end = start + bytes;
  auto it = ranges_.upper_bound(start);
  if (it != ranges_.begin() && std::prev(it)->second >= start) --it;
  while (it != ranges_.end() && it->first <= end) {
    start = std::min(start, it->first);
    end = std::max(end, it->second);
    it = ranges_.erase(it);
  }
  ranges_.emplace(start, end);
}

void KnownValues::set_unknown(std::uint64_t start, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t end = start + bytes;
  auto it = ranges_.upper_bound(start);
  if (it != ranges_.begin() && std::prev(it)->second > start) --it;
  while (it != ranges_.end() && it->first < end) {
    const auto [low, high] = *it;
    it = ranges_.erase(it);
    if (low < start) ranges_.emplace(low, start);
    if (high > end) ranges_.emplace(end, high);
  }
}

bool KnownValues::is_known(std::uint64_t start, std::uint64_t bytes) const {
  auto it = ranges_.upper_bound(start);
  if (it == ranges_.begin()) return bytes == 0;
  return std::prev(it)->second >= start + bytes;
}

void KnownValues::forget(std::uint64_t address) {
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin()) return;
  --it;
  if (it->second > address) set_unknown(address, it->second - address);
}

}  // namespace ullage::vgpu
