// SPDX-License-Identifier: Apache-2.0
// Reads what torch.profiler's export_memory_timeline writes: the sums (`.json`, `[times, sizes]`) and the rows
// (`raw.json`,
// `[time, action, bytes, category]`). Source of the layout: torch/profiler/_memory_profiler.py.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "ingest/file/source.hpp"
#include "timeline/series.hpp"

namespace ullage::ingest {

/// The profiler's categories, in the order of its numbers.
inline constexpr std::array<const char*, 8> timeline_categories = {
    "parameters", "optimizer state", "inputs", "temporaries", "activations", "gradients", "autograd detail", "unknown"};

struct MemoryTimeline {
  bool rows = false;                           ///< the raw layout
  std::array<timeline::Series, 8> categories;  ///< a point for each change
  std::uint64_t events = 0;                    ///< rows, or moments
  std::uint64_t peak = 0;                      ///< of the sum of all categories
  std::int64_t peak_time_ns = 0;
  std::array<std::uint64_t, 8> at_peak{};
  std::uint64_t at_start = 0;    ///< older than the recording
  std::uint64_t bad_rows = 0;    ///< of another shape, left out
  std::uint64_t below_zero = 0;  ///< moments at which a category would hold less than nothing; counted as 0
  std::optional<Error> damage;   ///< where reading ended, when before the end
};

/// Whether the first bytes look like one of the two.
bool looks_like_memory_timeline(std::string_view head);
/// Whether they look like the page of the third, which holds only a picture.
bool looks_like_memory_timeline_page(std::string_view head);

/// Errors: `bad_input` when not one row can be read.
Result<MemoryTimeline> read_memory_timeline(Source& source);

}  // namespace ullage::ingest
