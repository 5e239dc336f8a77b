// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/checking.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

namespace ullage::cli {
namespace {

using store::MetricId;

Result<std::int64_t> parse_bytes(const std::string& text, const std::string& where) {
  const auto size = parse_size(text);
  if (!size || *size > static_cast<std::uint64_t>(INT64_MAX))
    return fail(ErrorKind::usage, "a limit in bytes is no size", where, "38GiB, 38GB, or a number of bytes");
  if (!has_lost_its_unit(text)) return static_cast<std::int64_t>(*size);
  return fail(ErrorKind::usage, "a limit without a unit is a number of bytes", where, units_for(text),
              fmt::format("{}B, if bytes are meant", trim(text)));
}

Result<std::int64_t> parse_limit(MetricId metric, const std::string& text, const std::string& where) {
  if (store::metrics()[metric].unit == store::Unit::bytes) return parse_bytes(text, where);
  if (store::metrics()[metric].unit == store::Unit::microseconds) {
    const auto time = parse_duration(text);
    if (time) return std::chrono::duration_cast<std::chrono::microseconds>(*time).count();
    return fail(ErrorKind::usage, "a limit in time is no time", where, "200ms, 1.5s");
  }
  if (store::metrics()[metric].unit == store::Unit::percent) {
    const auto share = parse_percent(text);
    if (share) return std::llround(10'000 * *share);
    return fail(ErrorKind::usage, "a limit in percent is no percentage", where, "40%");
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!text.empty() && error == std::errc{} && end == text.data() + text.size()) return value;
  return fail(ErrorKind::usage, "a limit is no whole number", where, "a number such as 4");
}

Result<Budget> parse_budget(const std::string& text) {
  const auto cut = text.find('=');
  if (cut == 0 || cut == text.npos)
    return fail(ErrorKind::usage, "a budget needs a metric and a limit", "'" + text + "'", "peak_reserved=38GiB");
  const auto metric = store::find_metric(text.substr(0, cut));
  if (!metric) return tl::unexpected(metric.error());
  return parse_limit(*metric, text.substr(cut + 1), "'" + text + "'").map([&](std::int64_t limit) {
    return Budget{*metric, limit};
  });
}

std::int64_t allowance(std::int64_t before, double tolerance) {
  return static_cast<std::int64_t>(std::floor(std::abs(static_cast<double>(before)) * tolerance));
}

CheckStatus against_limit(MetricId metric, std::optional<std::int64_t> value, std::int64_t limit) {
  if (!value) return CheckStatus::unknown;
  const bool kept = store::metrics()[metric].less_is_better ? *value <= limit : *value >= limit;
  return kept ? CheckStatus::ok : CheckStatus::over;
}

/// The worst value that is no regression. Memory that shrank once is no standard: no growth is allowed then, as ever.
std::int64_t limit_of(MetricId metric, std::int64_t before, double tolerance) {
  const store::Metric& known = store::metrics()[metric];
  const std::int64_t room = allowance(before, tolerance);
  const std::int64_t limit = known.less_is_better ? before + room : before - room;
  return known.is_growth ? std::max<std::int64_t>(limit, 0) : limit;
}

Check against_baseline(const store::Record& record, const store::MetricValue& baseline, double tolerance) {
  Check check{baseline.metric,
              store::value_of(record.metrics, baseline.metric),
              limit_of(baseline.metric, baseline.value, tolerance),
              baseline.value,
              {}};
  check.status = against_limit(check.metric, check.value, check.limit);
  // Better by more than the tolerance is what would be a regression the other way round.
  if (check.value && is_worse(check.metric, *check.value, baseline.value, tolerance))
    check.status = CheckStatus::improved;
  return check;
}

std::map<std::string, std::uint64_t> leaves_of(const store::Record& record) {
  std::map<std::string, std::uint64_t> leaves;
  const auto& lines = record.lines;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (i + 1 == lines.size() || lines[i + 1].depth <= lines[i].depth) leaves[lines[i].id] += lines[i].bytes;
  return leaves;
}

std::uint64_t effect(const LineChange& line) {
  return line.after > line.before ? line.after - line.before : line.before - line.after;
}

std::vector<LineChange> line_changes(const std::map<std::string, std::uint64_t>& before,
                                     const std::map<std::string, std::uint64_t>& after) {
  std::map<std::string, LineChange> all;
  for (const auto& [id, bytes] : before) all[id] = {id, bytes, 0};
  for (const auto& [id, bytes] : after) all.try_emplace(id, LineChange{id, 0, 0}).first->second.after = bytes;
  std::vector<LineChange> changed;
  for (const auto& [id, line] : all)
    if (line.before != line.after) changed.push_back(line);
  std::ranges::stable_sort(changed, std::ranges::greater{}, effect);
  return changed;
}

std::vector<store::Setting> chosen_settings(const store::Record& record) {
  std::vector<store::Setting> chosen;
  for (const store::Setting& one : record.settings)
    if (store::is_chosen(one.group)) chosen.push_back(one);
  return chosen;
}

}  // namespace

const char* name_of(CheckStatus status) {
  constexpr const char* names[] = {"ok", "improved", "over", "unknown"};
  return names[static_cast<std::size_t>(status)];
}

Baseline baseline_of(const store::Record& record, std::span<const MetricId> metrics) {
  const store::Summary& run = record.summary;
  Baseline baseline{run.name, run.script, run.gpu, run.torch, chosen_settings(record), {}, leaves_of(record)};
  for (const store::MetricValue& value : record.metrics)
    if (std::ranges::find(metrics, value.metric) != metrics.end()) baseline.metrics.push_back(value);
  return baseline;
}

Result<std::vector<Budget>> parse_budgets(const std::string& text) {
  std::vector<Budget> budgets;
  for (const std::string& part : split(text, ',')) {
    const auto budget = parse_budget(part);
    if (!budget) return tl::unexpected(budget.error());
    budgets.push_back(*budget);
  }
  return budgets;
}

Result<std::vector<MetricId>> parse_metrics(const std::string& text) {
  std::vector<MetricId> ids;
  for (const std::string& name : split(text, ',')) {
    const auto id = store::find_metric(name);
    if (!id) return tl::unexpected(id.error());
    ids.push_back(*id);
  }
  return ids;
}

bool verdict_is_good(const store::Summary& run) {
  return run.verdict.empty() || run.verdict == "fits" || run.verdict == "tight";
}

std::size_t CheckReport::count(CheckStatus status) const {
  return static_cast<std::size_t>(std::ranges::count(checks, status, &Check::status));
}

bool CheckReport::passed() const {
  return verdict_is_good() && count(CheckStatus::over) == 0 && count(CheckStatus::unknown) == 0;
}

bool is_worse(MetricId metric, std::int64_t before, std::int64_t after, double tolerance) {
  return against_limit(metric, after, limit_of(metric, before, tolerance)) == CheckStatus::over;
}

CheckReport check_run(const store::Record& record, std::span<const Budget> budgets,
                      const std::optional<Baseline>& baseline, double tolerance) {
  CheckReport report{record.summary, {}, tolerance, {}, {}};
  for (const Budget& budget : budgets) {
    const auto value = store::value_of(record.metrics, budget.metric);
    report.checks.push_back(
        {budget.metric, value, budget.limit, {}, against_limit(budget.metric, value, budget.limit)});
  }
  if (!baseline) return report;
  for (const store::MetricValue& value : baseline->metrics)
    report.checks.push_back(against_baseline(record, value, tolerance));
  report.settings = store::differences(baseline->settings, chosen_settings(record));
  report.ledger = line_changes(baseline->ledger, leaves_of(record));
  return report;
}

}  // namespace ullage::cli
