// SPDX-License-Identifier: Apache-2.0
#include "report/text/curve.hpp"

#include "base/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::report {
namespace {

constexpr std::size_t rows = 12;

std::uint64_t highest(const Curve& curve) {
  std::uint64_t most = 0;
  for (const CurveColumn& column : curve.columns) most = std::max({most, column.allocated, column.reserved});
  return most;
}

/// A cell is filled from its middle on; what is not 0 shows at least in the lowest row.
bool reaches(std::uint64_t bytes, std::uint64_t most, std::size_t row) {
  if (row == 0) return bytes > 0;
  return static_cast<double>(bytes) >= static_cast<double>(most) * (static_cast<double>(row) + 0.5) / rows;
}

std::string row_text(const Curve& curve, std::uint64_t most, std::size_t row) {
  std::string text;
  for (const CurveColumn& column : curve.columns)
    text += reaches(column.allocated, most, row) ? "█" : reaches(column.reserved, most, row) ? "░" : " ";
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string label(std::uint64_t most, std::size_t row) {
  if (row == rows - 1) return format_bytes(most);
  if (row == rows / 2) return format_bytes(most / 2);
  return row == 0 ? "0 B" : "";
}

/// Those that have room between each other.
std::vector<CurveMark> shown_marks(const Curve& curve) {
  constexpr std::size_t gap = 2;
  std::vector<CurveMark> shown;
  std::size_t free_from = 0;
  for (const CurveMark& mark : curve.marks) {
    if (mark.column < free_from || mark.column >= curve.columns.size()) continue;
    free_from = mark.column + mark.text.size() + gap;
    shown.push_back(mark);
  }
  return shown;
}

std::string axis_text(const Curve& curve) {
  std::string line(curve.columns.size(), '-'), text;
  for (const CurveMark& mark : shown_marks(curve)) {
    line[mark.column] = '+';
    text.resize(mark.column, ' ');
    text += mark.text;
  }
  return fmt::format("{:>11} +{}\n{:>11}  {}\n", "", line, text.empty() ? "" : "step", text);
}

}  // namespace

std::string curve_text(const Curve& curve) {
  const std::uint64_t most = highest(curve);
  if (most == 0) return {};
  std::string text;
  for (std::size_t row = rows; row-- > 0;)
    text += fmt::format("{:>11} |{}\n", label(most, row), row_text(curve, most, row));
  text += axis_text(curve);
  return text + fmt::format("{:>11}  █ allocated, ░ reserved by PyTorch; {}\n", "", curve.axis);
}

}  // namespace ullage::report
