// SPDX-License-Identifier: Apache-2.0
#include "report/operators_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/ledger_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::report {
namespace {

std::string milliseconds(std::int64_t ns) {
  return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6);
}

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::vector<std::string> cells(const ledger::OperatorRow& row, const OperatorsView& view) {
  std::vector<std::string> result = {shortened(row.name, 60)};
  if (view.group_by != "name") result.push_back(shortened(row.key, 80));
  result.insert(result.end(), {std::to_string(row.calls), format_bytes(row.self_allocated), format_bytes(row.allocated),
                               format_signed_bytes(row.self_net), format_bytes(row.largest),
                               milliseconds(row.self_cpu_ns), milliseconds(row.cpu_ns)});
  if (view.table.has_device_times) {
    result.push_back(milliseconds(row.self_device_ns));
    result.push_back(milliseconds(row.device_ns));
  }
  return result;
}

}  // namespace

std::string operators_text(const OperatorsView& view, std::size_t top) {
  std::vector<Table::Column> columns = {{"operator"}};
  if (view.group_by != "name") columns.push_back({view.group_by});
  for (const char* title : {"calls", "self allocated", "allocated", "self net", "largest", "self CPU", "CPU"})
    columns.push_back({title, Align::right});
  if (view.table.has_device_times)
    columns.insert(columns.end(), {{"self device", Align::right}, {"device", Align::right}});
  Table table(columns);
  const auto& rows = view.table.rows;
  for (std::size_t i = 0; i < rows.size() && (top == 0 || i < top); ++i) table.add(cells(rows[i], view));
  ledger::OperatorRow total = view.table.total;
  total.name = "all (self values)";
  total.allocated = total.self_allocated;
  total.cpu_ns = total.self_cpu_ns;
  total.device_ns = total.self_device_ns;
  table.add(cells(total, view));
  std::string text =
      fmt::format("{}: {}, device {}\n", printable(view.source, false), printable(view.producer, false), view.device);
  text += evidence_text(view.evidence) + "\n" + table.text();
  if (top > 0 && rows.size() > top) text += fmt::format("{} more rows: --top 0 shows all\n", rows.size() - top);
  if (view.table.outside_allocated > 0)
    text += fmt::format("allocated outside every operator: {}\n", format_bytes(view.table.outside_allocated));
  for (const auto& note : view.notes) text += "note: " + printable(note, false) + "\n";
  return text;
}

}  // namespace ullage::report
