// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/checking.hpp"
#include "apps/ullage/history/columns.hpp"
#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ullage::cli {
namespace {

constexpr std::size_t lines_shown = 12;

std::string status_text(const Check& check) {
  if (check.status == CheckStatus::unknown) return "NOT KNOWN";
  if (check.status != CheckStatus::over) return name_of(check.status);
  return fmt::format("{} by {}", store::metrics()[check.metric].less_is_better ? "OVER" : "UNDER",
                     store::value_text(check.metric, std::abs(*check.value - check.limit)));
}

std::string limit_text(const Check& check) {
  return (store::metrics()[check.metric].less_is_better ? "<= " : ">= ") + store::value_text(check.metric, check.limit);
}

std::string from_text(const CheckReport& report, const Check& check) {
  if (!check.baseline) return "budget";
  return fmt::format("baseline {}, {:g} %", store::value_text(check.metric, *check.baseline), 100 * report.tolerance);
}

std::vector<std::string> cells_of(const CheckReport& report, const Check& check) {
  return {std::string(store::metrics()[check.metric].name),
          check.value ? store::value_text(check.metric, *check.value) : "", limit_text(check), from_text(report, check),
          status_text(check)};
}

std::string verdict_line(const CheckReport& report) {
  return report.verdict_is_good() ? "" : fmt::format("the run's verdict is {}", report.run.verdict);
}

std::string outcome(const CheckReport& report) {
  if (report.passed()) return "PASSED";
  std::vector<std::string> why;
  if (!report.verdict_is_good()) why.push_back(verdict_line(report));
  if (const auto over = report.count(CheckStatus::over); over > 0)
    why.push_back(fmt::format("{} of {} figures over the limit", over, report.checks.size()));
  if (const auto unknown = report.count(CheckStatus::unknown); unknown > 0)
    why.push_back(fmt::format("{} not known of this run", unknown));
  return "FAILED: " + join(why, ", ");
}

std::string setting_text(const store::SettingDifference& one) {
  return fmt::format("{} {} -> {}", one.key, one.before.value_or("(not given)"), one.after.value_or("(not given)"));
}

std::string change_text(const LineChange& line) {
  const auto bytes = static_cast<std::int64_t>(line.after - line.before);
  return (bytes > 0 ? "+" : "") + format_signed_bytes(bytes);
}

/// Cells of Markdown must not end theirs.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text, false)) {
    if (c == '|' || c == '`' || c == '<' || c == '*' || c == '_') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + escaped(cell) + " |";
  return row + "\n";
}

void write_checks(JsonWriter& json, const CheckReport& report) {
  json.begin_array("checks");
  for (const Check& check : report.checks) {
    json.begin_object();
    json.field("metric", store::metrics()[check.metric].name);
    json.field("unit", name_of(store::metrics()[check.metric].unit));
    json.field("from", check.baseline ? "baseline" : "budget");
    if (check.value) json.field("value", *check.value);
    json.field("limit", check.limit);
    if (check.baseline) json.field("baseline", *check.baseline);
    json.field("status", name_of(check.status));
    json.end_object();
  }
  json.end_array();
}

void write_changes(JsonWriter& json, const CheckReport& report) {
  json.begin_array("configuration");
  for (const auto& one : report.settings) {
    json.begin_object();
    json.field("from", store::name_of(one.group));
    json.field("key", std::string_view(one.key));
    if (one.before) json.field("before", std::string_view(*one.before));
    if (one.after) json.field("after", std::string_view(*one.after));
    json.end_object();
  }
  json.end_array();
  json.begin_array("ledger");
  for (const LineChange& line : report.ledger) {
    json.begin_object();
    json.field("id", std::string_view(line.id));
    json.field("before_bytes", line.before);
    json.field("after_bytes", line.after);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string check_text(const CheckReport& report) {
  std::string text = fmt::format("{}\n", printable(fmt::format("{} ({}) on {}, torch {}", report.run.id,
                                                               report.run.name, report.run.gpu, report.run.torch),
                                                   false));
  Table table({{"metric"}, {"value", Align::right}, {"limit", Align::right}, {"from"}, {""}});
  for (const Check& check : report.checks) table.add(cells_of(report, check));
  text += "\n" + table.text() + "\n" + outcome(report) + "\n";
  for (const auto& one : report.settings)
    text += "  asked for differently: " + printable(setting_text(one), false) + "\n";
  if (report.passed() || report.ledger.empty()) return text;
  Table lines({{"ledger line"}, {"baseline", Align::right}, {"now", Align::right}, {"change", Align::right}});
  for (std::size_t i = 0; i < std::min(lines_shown, report.ledger.size()); ++i) {
    const LineChange& line = report.ledger[i];
    lines.add({line.id, format_bytes(line.before), format_bytes(line.after), change_text(line)});
  }
  return text + "\n" + lines.text();
}

std::string check_json(const CheckReport& report) {
  JsonWriter json;
  json.begin_result("check");
  json.begin_object("run");
  write_facts(json, report.run);
  json.end_object();
  json.field("passed", report.passed());
  json.field("tolerance", report.tolerance);
  write_checks(json, report);
  write_changes(json, report);
  json.end_object();
  return json.text();
}

std::string check_markdown(const CheckReport& report) {
  std::string text = fmt::format("### Memory of {} on {}: {}\n\n", escaped(report.run.name), escaped(report.run.gpu),
                                 escaped(outcome(report)));
  text += "| metric | value | limit | from | |\n|---|---:|---:|---|---|\n";
  for (const Check& check : report.checks) text += markdown_row(cells_of(report, check));
  for (const auto& one : report.settings)
    text += fmt::format("\nAsked for differently than in the baseline: {}\n", escaped(setting_text(one)));
  if (!report.passed() && !report.ledger.empty()) {
    text += "\n| ledger line | baseline | now | change |\n|---|---:|---:|---:|\n";
    for (std::size_t i = 0; i < std::min(lines_shown, report.ledger.size()); ++i) {
      const LineChange& line = report.ledger[i];
      text += markdown_row({line.id, format_bytes(line.before), format_bytes(line.after), change_text(line)});
    }
  }
  return text + fmt::format("\nrun {}, torch {}\n", escaped(report.run.id), escaped(report.run.torch));
}

std::string metrics_text() {
  Table table({{"metric"}, {"unit"}, {"meaning"}});
  for (const store::Metric& metric : store::metrics())
    table.add({std::string(metric.name), name_of(metric.unit), std::string(metric.meaning)});
  return table.text();
}

std::string metrics_json() {
  JsonWriter json;
  json.begin_result("check");
  json.begin_array("metrics");
  for (const store::Metric& metric : store::metrics()) {
    json.begin_object();
    json.field("name", metric.name);
    json.field("unit", name_of(metric.unit));
    json.field("better", metric.less_is_better ? "less" : "more");
    json.field("meaning", metric.meaning);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text();
}

}  // namespace ullage::cli
