// SPDX-License-Identifier: Apache-2.0
// Memory over a run, drawn with characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ullage::report {

/// The highest values within one column. Bytes.
struct CurveColumn {
  std::uint64_t allocated = 0, reserved = 0;
};

struct CurveMark {
  std::size_t column = 0;
  std::string text;  ///< "load", "2"
};

struct Curve {
  std::vector<CurveColumn> columns;
  std::vector<CurveMark> marks;  ///< in order; one that has no room is left out
  std::string axis;              ///< what a column is: "over 1,234 events of the allocator"
};

/// Twelve rows from 0 to the highest reserved value, and the marks below. Empty without columns.
[[nodiscard]] std::string curve_text(const Curve& curve);

}  // namespace ullage::report
