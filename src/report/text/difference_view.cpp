// SPDX-License-Identifier: Apache-2.0
#include "report/text/difference_tables.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace ullage::report {
namespace {

constexpr std::size_t chart_depth = 3;

Table columns(const char* title, const SideTitles& sides = {}) {
  return Table({{title}, {sides.before, Align::right}, {sides.after, Align::right}, {"change", Align::right}, {""}});
}

void add(Table& table, const ledger::Difference& line, const std::string& name) {
  const bool same = line.change == ledger::Change::same;
  table.add({name, format_bytes(line.before), format_bytes(line.after),
             same ? "" : (line.bytes() > 0 ? "+" : "") + format_signed_bytes(line.bytes()),
             same ? "" : ledger::name_of(line.change)});
}

void add_chart(Table& table, const ledger::Difference& line, std::size_t depth) {
  add(table, line, std::string(2 * depth, ' ') + line.name);
  if (depth + 1 >= chart_depth) return;
  for (const auto& child : line.children) {
    if (child.before > 0 || child.after > 0) add_chart(table, child, depth + 1);
  }
}

std::string change_text(std::int64_t bytes) {
  return (bytes > 0 ? "+" : "") + format_signed_bytes(bytes);
}

std::string or_none(const std::optional<std::string>& text) {
  return printable(text.value_or("(not given)"), false);
}

std::string setting_text(const ChangedSetting& one) {
  return fmt::format("{} {} -> {}", printable(one.key, false), or_none(one.before), or_none(one.after));
}

/// Where one choice alone differs, its effect.
std::string single_choice(const DifferenceView& view) {
  const auto chosen = [](const ChangedSetting& one) { return one.chosen; };
  if (std::ranges::count_if(view.settings, chosen) != 1) return {};
  const ChangedSetting& one = *std::ranges::find_if(view.settings, chosen);
  const std::int64_t bytes = view.root.bytes();
  return fmt::format("\none setting differs: {}; {}\n", setting_text(one),
                     bytes == 0 ? "the total is the same" : change_text(bytes) + " in all");
}

std::string settings_section(const DifferenceView& view) {
  return view.settings.empty() ? "" : single_choice(view) + "\n" + settings_table(view.settings);
}

std::int64_t growth(const ChangedPhase& phase) {
  return static_cast<std::int64_t>(phase.after.value_or(0) - phase.before.value_or(0));
}

std::string phases_section(const DifferenceView& view) {
  if (view.phases.empty()) return {};
  const auto most =
      std::ranges::max_element(view.phases, {}, [](const ChangedPhase& p) { return std::abs(growth(p)); });
  if (growth(*most) == 0) return {};
  Table table(
      {{"peak allocated in"}, {"before", Align::right}, {"after", Align::right}, {"change", Align::right}, {""}});
  const auto bytes = [](const std::optional<std::uint64_t>& value) { return value ? format_bytes(*value) : ""; };
  for (const ChangedPhase& phase : view.phases)
    table.add({phase.name, bytes(phase.before), bytes(phase.after),
               growth(phase) == 0 ? "" : change_text(growth(phase)),
               &phase == &*most ? (growth(phase) > 0 ? "grew most" : "shrank most") : ""});
  return "\n" + table.text();
}

}  // namespace

std::string settings_table(const std::vector<ChangedSetting>& settings, const SideTitles& sides) {
  Table table({{"configuration"}, {sides.before}, {sides.after}, {"from"}});
  for (const ChangedSetting& one : settings) table.add({one.key, or_none(one.before), or_none(one.after), one.source});
  return table.text();
}

std::string difference_chart(const ledger::Difference& root, const SideTitles& sides) {
  Table chart = columns("line", sides);
  add_chart(chart, root, 0);
  return chart.text();
}

std::string difference_text(const DifferenceView& view, std::size_t top) {
  const auto shown = [](const std::string& side, const std::string& moment) {
    return printable(side + ", at " + moment, false) + "\n";
  };
  std::string text = "before: " + shown(view.before, view.before_moment);
  text += "after:  " + shown(view.after, view.after_moment);
  for (const auto& note : view.notes) text += "note: " + printable(note, false) + "\n";
  text += settings_section(view);
  text += "\n" + difference_chart(view.root) + phases_section(view);
  const auto leaves = ledger::changed_leaves(view.root);
  if (leaves.empty()) return text + "\nnothing changed\n";
  Table largest = columns("largest changes");
  for (std::size_t i = 0; i < leaves.size() && (top == 0 || i < top); ++i) add(largest, leaves[i], leaves[i].id);
  text += "\n" + largest.text();
  if (top > 0 && leaves.size() > top) {
    std::int64_t rest = 0;
    for (std::size_t i = top; i < leaves.size(); ++i) rest += leaves[i].bytes();
    text += fmt::format("and {} more, together {}{}\n", leaves.size() - top, rest > 0 ? "+" : "",
                        format_signed_bytes(rest));
  }
  return text;
}

}  // namespace ullage::report
