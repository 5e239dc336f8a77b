// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/numbers.hpp"

#include "base/text.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace ullage::cli {

std::optional<double> scaled_number(std::string_view text) {
  const std::string word = lower(trim(text));
  constexpr std::array<std::pair<char, double>, 4> units{{{'k', 1e3}, {'m', 1e6}, {'b', 1e9}, {'t', 1e12}}};
  double unit = 1;
  std::string_view number = word;
  for (const auto& [letter, factor] : units)
    if (number.ends_with(letter)) unit = factor;
  if (unit > 1) number.remove_suffix(1);
  double value = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
  if (number.empty() || error != std::errc{} || end != number.data() + number.size()) return std::nullopt;
  return value * unit;
}

}  // namespace ullage::cli
