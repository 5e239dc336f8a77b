// SPDX-License-Identifier: Apache-2.0
// Growth over many steps, told by one number for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ullage::findings {

struct SteadyGrowth {
  double bytes_per_step = 0;  ///< the median slope
  double confidence = 0;      ///< that it grows at all, 0.99 and more
  std::size_t first = 0;      ///< position of the first value that counts: what stands before is warm-up
  std::size_t rises = 0;      ///< how many values are higher than the one before
  double largest_rise = 0;    ///< bytes
};

/// Of what was allocated at the end of each step, in bytes. Nothing unless at least eight values are left after a
/// warm-up of two steps or a tenth; the Mann-Kendall test is 99 % sure; each quarter's median is above that of the
/// quarter before, so that neither a single jump nor a buffer that is full counts; no rise makes more than half of the
/// growth; and the growth is at least 1 MiB, 1 % of the first value, and twice the median distance of the values from
/// its line.
std::optional<SteadyGrowth> steady_growth(std::span<const double> values);

}  // namespace ullage::findings
