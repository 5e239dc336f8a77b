// SPDX-License-Identifier: Apache-2.0
#include "report/reconcile_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::report {
namespace {

using findings::Comparison;
using findings::ConfigurationFact;
using ledger::JoinedLine;

constexpr std::size_t chart_depth = 3;

std::string change_text(std::int64_t bytes) {
  return (bytes > 0 ? "+" : "") + format_signed_bytes(bytes);
}

std::string title_of(const ReconcileView& view, const Comparison& one) {
  return printable(view.columns[one.reference].id + " - " + view.columns[one.column].id, false);
}

/// The first lines: whether it is the same to the byte, and what is most of it where not.
std::string verdict_of(const ReconcileView& view, const Comparison& one) {
  if (one.lines.empty()) return fmt::format("{}: 0 B, every line is the same\n", title_of(view, one));
  const auto& most = one.lines.front();
  return fmt::format("{}: {} in all; most of it is {} with {}\n", title_of(view, one), change_text(one.bytes),
                     printable(most.line->id, false), change_text(most.bytes));
}

std::string sources_section(const ReconcileView& view) {
  Table table({{""}, {""}, {""}});
  for (const ReconcileColumn& column : view.columns)
    table.add({column.id + ":", column.source + ", " + column.producer, "at " + column.moment});
  std::string text = "\n" + table.text();
  for (const std::string& note : view.joined.notes) text += "note: " + printable(note, false) + "\n";
  for (const std::string& note : view.notes) text += "note: " + printable(note, false) + "\n";
  return text;
}

/// "same", "differs", or that less than two say something.
std::string agreement(const ConfigurationFact& fact) {
  const auto known = std::ranges::count_if(fact.values, [](const auto& value) { return value.has_value(); });
  if (known < 2) return "known of one";
  for (std::size_t i = 0; i < fact.values.size(); ++i)
    for (std::size_t j = i + 1; j < fact.values.size(); ++j)
      if (fact.differs(i, j)) return "differs";
  return "same";
}

std::vector<Table::Column> columns_of(const ReconcileView& view, const char* first, Align align) {
  std::vector<Table::Column> columns{{first}};
  for (const ReconcileColumn& column : view.columns) columns.push_back({column.id, align});
  return columns;
}

std::string configuration_section(const ReconcileView& view) {
  if (view.configuration.empty()) return {};
  auto columns = columns_of(view, "configuration", Align::left);
  columns.push_back({""});
  Table table(columns);
  for (const ConfigurationFact& fact : view.configuration) {
    std::vector<std::string> cells{fact.key};
    for (const auto& value : fact.values) cells.push_back(value.value_or("-"));
    cells.push_back(agreement(fact));
    table.add(std::move(cells));
  }
  return "\n" + table.text();
}

void add_line(const ReconcileView& view, Table& table, const JoinedLine& line, std::size_t depth) {
  std::vector<std::string> cells{std::string(2 * depth, ' ') + line.name};
  for (const std::uint64_t bytes : line.bytes) cells.push_back(format_bytes(bytes));
  for (const Comparison& one : view.comparisons) {
    const std::int64_t bytes = line.difference(one.column, one.reference);
    cells.push_back(bytes == 0 ? "0" : change_text(bytes));
  }
  table.add(std::move(cells));
  if (depth + 1 >= chart_depth) return;
  for (const JoinedLine& child : line.children)
    if (std::ranges::any_of(child.bytes, [](std::uint64_t bytes) { return bytes > 0; }))
      add_line(view, table, child, depth + 1);
}

std::string ledger_section(const ReconcileView& view) {
  auto columns = columns_of(view, "line", Align::right);
  for (const Comparison& one : view.comparisons) columns.push_back({title_of(view, one), Align::right});
  Table table(columns);
  add_line(view, table, view.joined.root, 0);
  return "\n" + table.text();
}

std::string seconds_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

std::string times_section(const ReconcileView& view) {
  std::string text;
  for (const ReconcileColumn& column : view.columns)
    if (column.time)
      text += fmt::format("  {}: {} ({} to {}), {}\n", column.id, seconds_text(column.time->seconds),
                          seconds_text(column.time->low), seconds_text(column.time->high), column.time->known_by);
  if (text.empty()) return {};
  const auto &plan = view.columns.front().time, &measured = view.columns.back().time;
  if (view.columns.size() > 1 && plan && measured)
    text += fmt::format(
        "  {} - {}: {}{}, {} the plan's interval\n", view.columns.back().id, view.columns.front().id,
        measured->seconds < plan->seconds ? "-" : "+",
        seconds_text(std::max(measured->seconds, plan->seconds) - std::min(measured->seconds, plan->seconds)),
        measured->seconds >= plan->low && measured->seconds <= plan->high ? "within" : "outside");
  return "\nstep time\n" + text;
}

std::string cause_text(const findings::ExplainedLine& one) {
  if (!one.cause) return "unexplained residue";
  return (one.cause->certain ? "" : "likely: ") + one.cause->text;
}

std::string comparison_section(const ReconcileView& view, const Comparison& one, std::size_t top) {
  if (one.lines.empty()) return {};
  Table table({{title_of(view, one)}, {"difference", Align::right}, {"because"}});
  const std::size_t shown = top == 0 ? one.lines.size() : std::min(top, one.lines.size());
  for (std::size_t i = 0; i < shown; ++i)
    table.add({one.lines[i].line->id, change_text(one.lines[i].bytes), cause_text(one.lines[i])});
  std::string text = "\n" + table.text();
  std::int64_t rest = 0;
  for (std::size_t i = shown; i < one.lines.size(); ++i) rest += one.lines[i].bytes;
  if (shown < one.lines.size())
    text += fmt::format("and {} more, together {}\n", one.lines.size() - shown, change_text(rest));
  return text + fmt::format("differences without signs: {} with a cause, {} unexplained residue\n",
                            format_bytes(one.explained), format_bytes(one.unexplained));
}

}  // namespace

std::string reconcile_text(const ReconcileView& view, std::size_t top) {
  std::string text;
  for (const Comparison& one : view.comparisons) text += verdict_of(view, one);
  text += sources_section(view) + configuration_section(view) + ledger_section(view) + times_section(view);
  for (const Comparison& one : view.comparisons) text += comparison_section(view, one, top);
  return text;
}

}  // namespace ullage::report
