// SPDX-License-Identifier: Apache-2.0
// Pinned host memory: what was allocated or registered. PyTorch's is_pinned and the direction of a copy depend on it.
#pragma once

#include <cstdint>
#include <map>

#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu {

/// Ranges by start address, not overlapping. Not thread-safe; the machine locks.
class HostRanges {
 public:
  /// False when the range overlaps one that is known.
  bool insert(std::uint64_t start, std::uint64_t bytes, MemoryKind kind);
  /// Size of the removed range, 0 when `start` begins no range of that kind.
  std::uint64_t remove(std::uint64_t start, MemoryKind kind);
  PointerInfo find(std::uint64_t address) const;
  /// Calls f(address, bytes) for each range.
  template <class F>
  void for_each(F f) const {
    for (const auto& [address, range] : ranges_) f(address, range.bytes);
  }

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t peak() const { return peak_; }

 private:
  struct Range {
    std::uint64_t bytes;
    MemoryKind kind;
  };
  std::map<std::uint64_t, Range> ranges_;
  std::uint64_t bytes_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace ullage::vgpu
