// SPDX-License-Identifier: Apache-2.0
// The largest value that fits, or the smallest: of needs that grow, or shrink, with the value, if not from each to the
// next. Fragmentation and kernels that like multiples of 8 make holes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace ullage::planner {

enum class Trial : std::uint8_t {
  fits,
  over,      ///< needs too much
  hopeless,  ///< so much too much that nothing from twice the value on fits
  refused,   ///< there is no such value, nor a larger one
};
using Try = std::function<Trial(std::uint64_t value)>;

/// Values to look among.
struct SearchRange {
  std::uint64_t first = 1, last = 1;
  std::uint64_t near = 16;  ///< so many beyond the end are tried too, for holes, and so many spread over a quarter more
};

struct SearchEnd {
  std::uint64_t value = 0;            ///< fits; 0 where none was found
  std::optional<std::uint64_t> next;  ///< its neighbour, which does not; nothing at the end of the range
};

/// Tries O(log(last - first) + near) values for each hole, none twice. What it finds fits, and none of the next `near`
/// values does; a larger one that fits is missed only where all that are tried beyond it do not.
[[nodiscard]] SearchEnd largest_that_fits(const SearchRange& range, const Try& tried);

/// The same downwards: the smallest that fits, and the `near` values below it do not.
[[nodiscard]] SearchEnd smallest_that_fits(const SearchRange& range, const Try& tried);

}  // namespace ullage::planner
