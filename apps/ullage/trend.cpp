// SPDX-License-Identifier: Apache-2.0
// `ullage trend`: one figure over the history of one kind of run.
#include "apps/ullage/command.hpp"
#include "apps/ullage/history/checking.hpp"
#include "apps/ullage/history/columns.hpp"
#include "apps/ullage/history/filters.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/history/take_in.hpp"
#include "apps/ullage/output.hpp"
#include "base/text.hpp"
#include "store/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ullage::cli {
namespace {

struct Point {
  store::Summary run;
  std::int64_t value = 0;
  std::optional<std::int64_t> change;  ///< from the run before
  std::optional<std::size_t> same;     ///< the last point before with the same configuration
  bool regression = false;
};

struct Trend {
  store::MetricId metric = 0;
  double tolerance = 0;
  std::vector<Point> points;  ///< the oldest first
  std::size_t left_out = 0;   ///< runs that failed, or do not know the figure
};

/// A run that broke off has figures of a part only.
bool is_whole(const store::Summary& run) {
  return run.verdict != "failed" && run.verdict != "timeout";
}

Trend trend_of(store::MetricId metric, double tolerance, const std::vector<store::Row>& rows) {
  Trend trend{metric, tolerance, {}, 0};
  std::map<std::string, std::size_t> last;  // of each configuration
  for (const store::Row& row : rows) {
    if (!row.metrics[0] || !is_whole(row.summary)) {
      ++trend.left_out;
      continue;
    }
    Point point{row.summary, *row.metrics[0], {}, {}, false};
    if (!trend.points.empty()) point.change = point.value - trend.points.back().value;
    const auto [same, first] = last.try_emplace(row.summary.configuration, trend.points.size());
    if (!first) {
      point.same = std::exchange(same->second, trend.points.size());
      point.regression = is_worse(metric, trend.points[*point.same].value, point.value, tolerance);
    }
    trend.points.push_back(std::move(point));
  }
  return trend;
}

/// Figures of different scripts are no trend.
Result<void> check_one_name(const std::vector<store::Row>& rows) {
  std::set<std::string> names;
  for (const store::Row& row : rows) names.insert(row.summary.name);
  if (names.size() <= 1) return {};
  return fail(ErrorKind::usage, "these are runs of several names", "ullage trend", "--name with one of them",
              join(std::vector<std::string>(names.begin(), names.end()), ", "));
}

Result<Trend> read_trend(const Arguments& arguments) {
  const std::string key = arguments.text("key").value_or("");
  const auto metric = store::find_metric(key);
  if (!metric) return tl::unexpected(metric.error());
  auto filter = filter_of(arguments);
  if (!filter) return tl::unexpected(filter.error());
  auto store = open_history();
  if (!store) return tl::unexpected(store.error());
  if (!*store) return Trend{*metric, 0, {}, 0};
  store::Query query;
  query.filter = std::move(*filter);
  query.limit = arguments.count("limit").value_or(0);
  query.metrics = {key};
  if (const auto checked = check_settings(**store, query); !checked) return tl::unexpected(checked.error());
  const auto rows = (*store)->list(query);
  if (!rows) return tl::unexpected(rows.error());
  if (const auto one = check_one_name(*rows); !one) return tl::unexpected(one.error());
  std::vector<store::Row> oldest_first(rows->rbegin(), rows->rend());
  return trend_of(*metric, arguments.share("tolerance").value_or(0), oldest_first);
}

std::string share_text(const Point& point) {
  const std::int64_t before = point.value - *point.change;
  if (before == 0 || *point.change == 0) return "";
  return fmt::format("{:+.1f} %", 100.0 * static_cast<double>(*point.change) / static_cast<double>(std::abs(before)));
}

std::string from_to(std::string_view what, const std::string& before, const std::string& after) {
  return before == after ? ""
                         : fmt::format("  {}: {} -> {}\n", what, printable(before, false), printable(after, false));
}

/// By how much the last run is worse, and what else changed since the one it is compared with.
std::string regression_text(const Trend& trend) {
  const Point& last = trend.points.back();
  if (!last.regression) return {};
  const Point& before = trend.points[*last.same];
  return fmt::format("REGRESSION: {} is worse than {} with the same configuration by {}\n", last.run.id, before.run.id,
                     store::change_text(trend.metric, last.value - before.value)) +
         from_to("commit", commit_text(before.run), commit_text(last.run)) +
         from_to("torch", before.run.torch, last.run.torch) + from_to("Python", before.run.python, last.run.python);
}

std::string trend_text(const Trend& trend) {
  const std::string name(store::metrics()[trend.metric].name);
  if (trend.points.empty()) return "no run of the history has " + name + "\n";
  Table table({{"started"},
               {"id"},
               {"gpu"},
               {"torch"},
               {"commit"},
               {"configuration"},
               {name, Align::right},
               {"change", Align::right},
               {"", Align::right},
               {""}});
  for (const Point& point : trend.points)
    table.add({store::local_time_text(point.run.started_ms), point.run.id, point.run.gpu, point.run.torch,
               commit_text(point.run), point.run.configuration.substr(0, 6),
               store::value_text(trend.metric, point.value),
               point.change.value_or(0) != 0 ? store::change_text(trend.metric, *point.change) : "",
               point.change ? share_text(point) : "", point.regression ? "REGRESSION" : ""});
  std::string text = table.text();
  if (trend.left_out > 0)
    text += fmt::format("left out: {} that failed or do not know {}\n", counted(trend.left_out, "run"), name);
  return text + regression_text(trend);
}

std::string trend_json(const Trend& trend) {
  JsonWriter json;
  json.begin_result("trend");
  json.field("metric", store::metrics()[trend.metric].name);
  json.field("unit", name_of(store::metrics()[trend.metric].unit));
  json.field("tolerance", trend.tolerance);
  json.field("left_out", std::uint64_t{trend.left_out});
  json.field("regressed", !trend.points.empty() && trend.points.back().regression);
  json.begin_array("runs");
  for (const Point& point : trend.points) {
    json.begin_object();
    write_facts(json, point.run);
    json.field("value", point.value);
    if (point.change) json.field("change", *point.change);
    if (point.same) json.field("same_configuration_before", trend.points[*point.same].value);
    json.field("regression", point.regression);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text();
}

Result<ExitCode> run_trend(const Arguments& arguments) {
  return read_trend(arguments).and_then([&](const Trend& trend) {
    const bool regressed = !trend.points.empty() && trend.points.back().regression;
    return print_result(arguments.given("json") ? trend_json(trend) : trend_text(trend)).map([&] {
      return regressed ? ExitCode::no : ExitCode::yes;
    });
  });
}

constexpr Flag trend_own_flags[] = {
    {"key", "METRIC", "the figure to follow ('ullage check --list')", FlagKind::text, "peak_reserved"},
    {"tolerance", "SHARE", "how much worse is still no regression", FlagKind::share, "1%"},
    {"limit", "N", "the last N runs; 0: all", FlagKind::count, "0"},
    store_flag,
    json_flag,
};
constexpr auto trend_flags = with_filters(trend_own_flags);

}  // namespace

const Command trend_command{
    "trend",
    "one figure over the history of a script: changes and regressions",
    "[--name NAME] --key METRIC [FLAGS]",
    "Runs of one name, the oldest first. A regression is a run that is worse than the last one before it with the "
    "same\nconfiguration (arguments, launcher, environment, device). Ends with 1 when the last run is one.",
    {trend_flags, 0, false},
    run_trend};

}  // namespace ullage::cli
