// SPDX-License-Identifier: Apache-2.0
// The settings of PyTorch's caching allocator (PYTORCH_CUDA_ALLOC_CONF), and what differs between its versions.
// Source: c10/cuda/CUDAAllocatorConfig.cpp, c10/core/AllocatorConfig.h (2.6 to 2.14).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "timeline/size_rules.hpp"

namespace ullage::allocator {

inline constexpr std::uint64_t default_large_segment_bytes = 20ULL << 20;  ///< kLargeBuffer

struct Settings {
  timeline::AllocatorSettings sizes;  ///< max_split_size, expandable_segments, roundup_power2_divisions
  std::uint64_t large_segment_bytes = default_large_segment_bytes;     ///< of requests from 1 to 10 MiB
  std::uint64_t max_non_split_rounding = default_large_segment_bytes;  ///< how much larger an unsplit block may be
  double garbage_collection_threshold = 0;                             ///< share of the limit; 0 is off
  std::optional<double> memory_fraction;  ///< of the device's total, by set_per_process_memory_fraction
};

/// Reads PyTorch's own spelling, `expandable_segments:True,max_split_size_mb:512`. Keys that change no sizes
/// (release_lock_on_cudamalloc, pinned_*) are taken and have no effect. Errors: `usage` for unknown keys (the nearest
/// is named), for values that PyTorch refuses, and for `backend:cudaMallocAsync`, which is another allocator.
Result<Settings> parse_settings(std::string_view text);

/// Behaviour that changed from version to version.
struct Rules {
  /// The garbage collector runs with any memory fraction that was set, 1.0 too (2.6); later (2.11) only below 1.0.
  bool any_fraction_collects = false;
};

}  // namespace ullage::allocator
