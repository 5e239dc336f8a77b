// SPDX-License-Identifier: Apache-2.0
#include "report/operators_view.hpp"

#include "report/json/json_writer.hpp"
#include "report/json/ledger_lines.hpp"

namespace ullage::report {
namespace {

void write_values(JsonWriter& json, const ledger::OperatorRow& row, bool device_times) {
  json.field("calls", row.calls);
  json.field("self_allocated_bytes", row.self_allocated);
  json.field("self_net_bytes", row.self_net);
  json.field("largest_bytes", row.largest);
  json.field("self_cpu_ns", row.self_cpu_ns);
  if (device_times) json.field("self_device_ns", row.self_device_ns);
}

void write_row(JsonWriter& json, const ledger::OperatorRow& row, const OperatorsView& view) {
  json.begin_object();
  json.field("name", std::string_view(row.name));
  if (view.group_by != "name") json.field(view.group_by, std::string_view(row.key));
  write_values(json, row, view.table.has_device_times);
  json.field("allocated_bytes", row.allocated);
  json.field("net_bytes", row.net);
  json.field("cpu_ns", row.cpu_ns);
  if (view.table.has_device_times) json.field("device_ns", row.device_ns);
  json.end_object();
}

}  // namespace

std::string operators_json(const OperatorsView& view, std::size_t top) {
  JsonWriter json;
  json.begin_result("operators");
  json.field("source", std::string_view(view.source));
  json.field("producer", std::string_view(view.producer));
  json.field("device", view.device);
  json.field("group_by", std::string_view(view.group_by));
  json.begin_object("total");
  write_values(json, view.table.total, view.table.has_device_times);
  json.field("outside_allocated_bytes", view.table.outside_allocated);
  json.end_object();
  json.begin_array("operators");
  const auto& rows = view.table.rows;
  for (std::size_t i = 0; i < rows.size() && (top == 0 || i < top); ++i) write_row(json, rows[i], view);
  json.end_array();
  write_evidence(json, view.evidence);
  write_texts(json, "notes", view.notes);
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
