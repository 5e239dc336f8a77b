// SPDX-License-Identifier: Apache-2.0
#include "findings/trend.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <vector>

namespace ullage::findings {

namespace {

/// Pairs that rise less pairs that fall.
double kendall_sum(std::span<const double> values) {
  double sum = 0;
  for (std::size_t j = 1; j < values.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) sum += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
  }
  return sum;
}

/// Of the sum, for values in a random order.
double variance(std::span<const double> values) {
  const auto part = [](double n) { return n * (n - 1) * (2 * n + 5) / 18; };
  std::map<double, double> times;
  for (const double value : values) times[value] += 1;
  double result = part(static_cast<double>(values.size()));
  for (const auto& [value, count] : times) result -= part(count);
  return result;
}

}  // namespace

double confidence_of_rise(std::span<const double> values) {
  if (values.size() < 4) return 0;
  const double sum = kendall_sum(values), spread = variance(values);
  if (spread <= 0 || sum == 0) return 0.5;
  const double z = (sum - (sum > 0 ? 1 : -1)) / std::sqrt(spread);
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::ranges::nth_element(copy, middle);
  if (copy.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(copy.begin(), middle)) / 2;
}

double median_slope(std::span<const double> values) {
  std::vector<double> slopes;
  for (std::size_t j = 1; j < values.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
  }
  return median(slopes);
}

}  // namespace ullage::findings
