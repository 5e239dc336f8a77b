// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/hardware/quantity_text.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace ullage::cli {
namespace {

struct Unit {
  std::string_view of;  ///< the unit of the fact
  std::string_view name;
  double factor;
};

constexpr std::array units{Unit{"B", "B", 1},
                           Unit{"B", "KiB", 0x1p10},
                           Unit{"B", "MiB", 0x1p20},
                           Unit{"B", "GiB", 0x1p30},
                           Unit{"B", "KB", 1e3},
                           Unit{"B", "MB", 1e6},
                           Unit{"B", "GB", 1e9},
                           Unit{"B/s", "B/s", 1},
                           Unit{"B/s", "MB/s", 1e6},
                           Unit{"B/s", "GB/s", 1e9},
                           Unit{"B/s", "TB/s", 1e12},
                           Unit{"FLOP/s", "FLOP/s", 1},
                           Unit{"FLOP/s", "GFLOP/s", 1e9},
                           Unit{"FLOP/s", "TFLOP/s", 1e12},
                           Unit{"FLOP/s", "PFLOP/s", 1e15},
                           Unit{"Hz", "Hz", 1},
                           Unit{"Hz", "MHz", 1e6},
                           Unit{"Hz", "GHz", 1e9},
                           Unit{"W", "W", 1},
                           Unit{"bit", "bit", 1}};

struct Limits {
  double low, high;
};

// Wide enough for the next decade of hardware, too narrow for a number that lost its unit.
Limits limits_of(const FactInfo& fact) {
  switch (fact.fact) {
    case Fact::capacity:
      return {64.0 * mib, 1024.0 * tib};
    case Fact::context_cuda11:
    case Fact::context_cuda12:
    case Fact::context_cuda13:
      return {1.0 * mib, 16.0 * gib};
    case Fact::l2:
      return {64.0 * kib, 16.0 * gib};
    case Fact::shared_optin_per_block:
    case Fact::shared_per_sm:
      return {1.0 * kib, 64.0 * mib};
    default:
      break;
  }
  if (fact.unit == "B/s") return {1e8, 1e15};
  if (fact.unit == "FLOP/s") return {1e9, 1e19};
  if (fact.unit == "Hz") return {1e7, 1e11};
  return {1, 1e7};
}

std::string written(const FactInfo& fact, double value) {
  return fact.unit.empty() ? fmt::format("{:g}", value) : fmt::format("{:g} {}", value, fact.unit);
}

}  // namespace

std::optional<double> unit_factor(const FactInfo& fact, std::string_view unit) {
  if (equal_ignoring_case(unit, fact.unit)) return 1;
  const auto found = std::ranges::find_if(
      units, [&](const Unit& entry) { return entry.of == fact.unit && equal_ignoring_case(entry.name, unit); });
  return found == units.end() ? std::nullopt : std::optional(found->factor);
}

std::string unit_names(const FactInfo& fact) {
  std::vector<std::string> names;
  for (const Unit& unit : units)
    if (unit.of == fact.unit) names.emplace_back(unit.name);
  return names.empty() ? "a number without a unit" : "a number with " + join(names, ", ");
}

Result<double> parse_quantity(const FactInfo& fact, std::string_view text) {
  const std::string_view word = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const auto rest = trim(word.substr(static_cast<std::size_t>(end - word.data())));
  const auto factor = rest.empty() ? std::optional(1.0) : unit_factor(fact, rest);
  if (error != std::errc{} || !factor)
    return fail(ErrorKind::bad_input, "not a quantity: '" + std::string(text) + "'", {}, unit_names(fact));
  return value * *factor;
}

Result<void> check_plausible(const FactInfo& fact, double value) {
  const auto [low, high] = limits_of(fact);
  if (std::isfinite(value) && value >= low && value <= high) return {};
  return fail(ErrorKind::bad_input, "no GPU has " + written(fact, value), {},
              written(fact, low) + " to " + written(fact, high),
              fact.unit.empty() ? "" : "a number without a unit is in " + std::string(fact.unit));
}

}  // namespace ullage::cli
