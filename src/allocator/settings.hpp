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
  friend bool operator==(const Settings&, const Settings&) = default;
};

/// Reads PyTorch's own spelling, `expandable_segments:True,max_split_size_mb:512`. Keys that change no sizes
/// (release_lock_on_cudamalloc, pinned_*) are taken and have no effect. Errors: `usage` for unknown keys (the nearest
/// is named), for values that PyTorch refuses, and for `backend:cudaMallocAsync`, which is another allocator.
Result<Settings> parse_settings(std::string_view text);

struct TorchVersion {
  int major = 0, minor = 0;
  friend auto operator<=>(const TorchVersion&, const TorchVersion&) = default;
};

/// Of a version as torch prints it, `2.11.0+cu130`; nothing when it does not begin with two numbers.
std::optional<TorchVersion> parse_torch_version(std::string_view text);

/// Behaviour that changed from version to version.
struct Rules {
  /// A memory fraction of 1.0 is a limit, and switches the garbage collector on, like any other (2.6); later (2.11) it
  /// is none.
  bool full_fraction_limits = false;
  /// While requests go to a private pool, events are not asked and no memory is given back for a request, as in the
  /// capture of a graph (2.11, and the source of 2.12); later (2.15) only in a capture (pytorch/pytorch#181830).
  bool pools_are_captures = true;
  /// Of free blocks of one size that of the segment that was taken first is handed out (2.15, pytorch/pytorch#183591);
  /// before (2.11), the one with the lowest address.
  bool oldest_first = false;
};

/// The rules of the nearest version that was compared with PyTorch; those of 2.11 when the version is not known.
Rules rules_of(const std::optional<TorchVersion>& torch);

}  // namespace ullage::allocator
