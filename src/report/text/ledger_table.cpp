// SPDX-License-Identifier: Apache-2.0
#include "report/text/ledger_table.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ullage::report {
namespace {

void add_lines(Table& table, const ledger::Line& line, std::uint64_t total, std::size_t depth) {
  const double share = total > 0 ? 100.0 * static_cast<double>(line.bytes) / static_cast<double>(total) : 0;
  std::string known = ledger::name_of(line.known_by);
  if (const std::string by = ledger::name_of(line.attributed_by); !by.empty()) known += ", " + by;
  table.add({std::string(2 * depth, ' ') + line.name, format_bytes(line.bytes), fmt::format("{:.1f} %", share), known});
  for (const auto& child : line.children) add_lines(table, child, total, depth + 1);
}

}  // namespace

std::string ledger_table(const ledger::Line& root) {
  Table table({{"line"}, {"bytes", Align::right}, {"share", Align::right}, {"known by"}});
  add_lines(table, root, root.bytes, 0);
  return table.text();
}

}  // namespace ullage::report
