// SPDX-License-Identifier: Apache-2.0
// How PyTorch's CUDA caching allocator rounds requests and splits blocks. Source: c10/cuda/CUDACachingAllocator.cpp
// (2.6 and 2.11), functions round_size, should_split, roundup_power2_next_division; constants from
// c10/core/AllocatorConfig.h.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace ullage::timeline {

inline constexpr std::uint64_t min_block_bytes = 512;             ///< kMinBlockSize
inline constexpr std::uint64_t small_bytes = 1ULL << 20;          ///< kSmallSize
inline constexpr std::uint64_t small_segment_bytes = 2ULL << 20;  ///< kSmallBuffer
/// Larger requests are not believed (PyTorch refuses them: EXABYTE_SIZE / 8).
inline constexpr std::uint64_t max_request_bytes = 1ULL << 57;

/// The settings that decide block sizes (PYTORCH_CUDA_ALLOC_CONF).
struct AllocatorSettings {
  std::uint64_t max_split_bytes = std::numeric_limits<std::uint64_t>::max();  ///< max_split_size; max is "unlimited"
  bool expandable_segments = false;
  std::array<std::uint32_t, 16> roundup_power2_divisions{};  ///< slot i: requests from 2^(20+i) bytes; 0 is off
  friend bool operator==(const AllocatorSettings&, const AllocatorSettings&) = default;
};

/// The block size that a request of `bytes` needs; `bytes` must not exceed max_request_bytes.
std::uint64_t round_size(std::uint64_t bytes, const AllocatorSettings& settings);

/// Whether a free block is split when `rounded` bytes are taken from it and `remainder` are left.
bool should_split(std::uint64_t rounded, std::uint64_t remainder, bool small, bool expandable,
                  const AllocatorSettings& settings);

}  // namespace ullage::timeline
