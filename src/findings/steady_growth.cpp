// SPDX-License-Identifier: Apache-2.0
#include "findings/steady_growth.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "findings/trend.hpp"

namespace ullage::findings {

namespace {

constexpr std::size_t least_steps = 8, warm_up = 2, most_points = 400;
constexpr double least_confidence = 0.99, least_bytes = 1 << 20, least_share = 0.01;

/// The quadratic sums take so many points at most.
std::size_t stride_of(std::span<const double> values) {
  return (values.size() + most_points - 1) / most_points;
}

std::vector<double> thinned(std::span<const double> values) {
  const std::size_t stride = stride_of(values);
  std::vector<double> points;
  for (std::size_t i = 0; i < values.size(); i += stride) points.push_back(values[i]);
  return points;
}

bool every_quarter_is_higher(std::span<const double> values) {
  double before = 0;
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    const std::size_t begin = values.size() * quarter / 4, end = values.size() * (quarter + 1) / 4;
    const double middle = median(values.subspan(begin, end - begin));
    if (quarter > 0 && middle <= before) return false;
    before = middle;
  }
  return true;
}

double distance_from_line(std::span<const double> values, double slope) {
  std::vector<double> rests;
  for (std::size_t i = 0; i < values.size(); ++i) rests.push_back(values[i] - slope * static_cast<double>(i));
  const double middle = median(rests);
  for (double& rest : rests) rest = std::abs(rest - middle);
  return median(rests);
}

void take_rises(SteadyGrowth& growth, std::span<const double> values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double rise = values[i] - values[i - 1];
    if (rise <= 0) continue;
    ++growth.rises;
    growth.largest_rise = std::max(growth.largest_rise, rise);
  }
}

}  // namespace

std::optional<SteadyGrowth> steady_growth(std::span<const double> values) {
  SteadyGrowth growth;
  growth.first = std::max(warm_up, values.size() / 10);
  if (values.size() < growth.first + least_steps) return std::nullopt;
  const auto counted = values.subspan(growth.first);
  const auto points = thinned(counted);
  growth.confidence = confidence_of_rise(points);
  if (growth.confidence < least_confidence || !every_quarter_is_higher(counted)) return std::nullopt;
  const auto steps = static_cast<double>(counted.size() - 1);
  growth.bytes_per_step = median_slope(points) / static_cast<double>(stride_of(counted));
  take_rises(growth, counted);
  const double sum = growth.bytes_per_step * steps, net = counted.back() - counted.front();
  const double noise = distance_from_line(counted, growth.bytes_per_step);
  if (sum < std::max({least_bytes, least_share * counted.front(), 2 * noise}) || growth.largest_rise * 2 > net)
    return std::nullopt;
  return growth;
}

}  // namespace ullage::findings
