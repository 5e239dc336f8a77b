// SPDX-License-Identifier: Apache-2.0
#include "base/json_numbers.hpp"

#include <algorithm>
#include <cstddef>

namespace ullage {
namespace {

/// The number that a text begins with: digits, one point, and the e of a power.
std::string_view leading_number(std::string_view text) {
  std::string_view number = text.substr(0, text.find_first_not_of("0123456789."));
  if (const std::size_t point = number.find('.'); point != number.npos)
    number = number.substr(0, number.find('.', point + 1));
  const bool power = number.size() < text.size() && (text[number.size()] == 'e' || text[number.size()] == 'E');
  return text.substr(0, number.size() + (power ? 1 : 0));
}

bool is_unreadable(std::string_view number) {
  constexpr std::size_t most_zeros = 16, most_digits = 17, most_whole = 19;
  const std::size_t power = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, power);
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == mantissa.npos) return power < number.size() || mantissa.size() > most_zeros;
  const auto digits = static_cast<std::size_t>(std::count_if(mantissa.begin() + static_cast<std::ptrdiff_t>(first),
                                                             mantissa.end(), [](char c) { return c != '.'; }));
  const bool whole = power == number.size() && mantissa.find('.') == mantissa.npos;
  return digits > (whole ? most_whole : most_digits);
}

}  // namespace

bool has_inexact_number(std::string_view json) {
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') quoted = !quoted;
    if (quoted && json[i] == '\\') ++i;
    if (quoted || json[i] < '0' || json[i] > '9') continue;
    const std::string_view number = leading_number(json.substr(i));
    if (is_unreadable(number)) return true;
    i += number.size() - 1;
  }
  return false;
}

}  // namespace ullage
