// SPDX-License-Identifier: Apache-2.0
#include "report/difference_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ullage::report {
namespace {

constexpr std::size_t chart_depth = 3;

Table columns(const char* title) {
  return Table({{title}, {"before", Align::right}, {"after", Align::right}, {"change", Align::right}, {""}});
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

}  // namespace

std::string difference_text(const DifferenceView& view, std::size_t top) {
  std::string text = fmt::format("before: {}, at {}\nafter:  {}, at {}\n", view.before, view.before_moment, view.after,
                                 view.after_moment);
  for (const auto& note : view.notes) text += "note: " + note + "\n";
  Table chart = columns("line");
  add_chart(chart, view.root, 0);
  text += "\n" + chart.text();
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
