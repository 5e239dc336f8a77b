// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/host_ranges.hpp"

#include <algorithm>
#include <iterator>

namespace ullage::vgpu {

bool HostRanges::insert(std::uint64_t start, std::uint64_t bytes, MemoryKind kind) {
  auto next = ranges_.lower_bound(start);
  if (next != ranges_.end() && next->first - start < bytes) return false;
  if (next != ranges_.begin()) {
    auto previous = std::prev(next);
    if (start - previous->first < previous->second.bytes) return false;
  }
  ranges_.emplace(start, Range{bytes, kind});
  bytes_ += bytes;
  peak_ = std::max(peak_, bytes_);
  return true;
}

std::uint64_t HostRanges::remove(std::uint64_t start, MemoryKind kind) {
  auto it = ranges_.find(start);
  if (it == ranges_.end() || it->second.kind != kind) return 0;
  const std::uint64_t bytes = it->second.bytes;
  bytes_ -= bytes;
  ranges_.erase(it);
  return bytes;
}

PointerInfo HostRanges::find(std::uint64_t address) const {
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin()) return {};
  --it;
  if (address - it->first >= it->second.bytes) return {};
  return {PointerInfo::Kind::host, it->first, it->second.bytes};
}

}  // namespace ullage::vgpu
