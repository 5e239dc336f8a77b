// SPDX-License-Identifier: Apache-2.0
// The figures of a run that can be checked and followed: one table of names for `check`, `trend`, `runs` and others.
#pragma once

#include "base/result.hpp"

#include <rapidjson/fwd.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ullage::store {

/// Percent is stored as hundredths of a percent.
enum class Unit : std::uint8_t { bytes, count, microseconds, percent };
[[nodiscard]] const char* name_of(Unit unit);

struct Metric {
  std::string_view name;
  Unit unit;
  bool less_is_better;
  std::string_view meaning;
  bool is_growth = false;  ///< a difference: where it is below 0 nothing grew
};

/// A position in metrics().
using MetricId = std::size_t;

/// All of them; docs/runs.md shows the same table.
[[nodiscard]] std::span<const Metric> metrics();

/// Errors: `usage` for an unknown name, with the nearest ones.
[[nodiscard]] Result<MetricId> find_metric(std::string_view name);

struct MetricValue {
  MetricId metric = 0;
  std::int64_t value = 0;
};

/// The value of one metric; nothing when it is not known.
[[nodiscard]] std::optional<std::int64_t> value_of(std::span<const MetricValue> values, MetricId metric);

/// A value for people: "1.25 GiB", "3", "12.300 ms".
[[nodiscard]] std::string value_text(MetricId metric, std::int64_t value);
/// A difference for people, with its sign.
[[nodiscard]] std::string change_text(MetricId metric, std::int64_t change);

/// What run.json knows, in the order of the table.
[[nodiscard]] std::vector<MetricValue> metrics_of(const rapidjson::Value& run);

}  // namespace ullage::store
