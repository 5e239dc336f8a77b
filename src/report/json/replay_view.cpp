// SPDX-License-Identifier: Apache-2.0
#include "report/replay_view.hpp"

#include "report/json/json_writer.hpp"
#include "report/json/ledger_lines.hpp"

namespace ullage::report {
namespace {

void write_failure(JsonWriter& json, const ReplayFailureView& failure) {
  json.begin_object("failure");
  json.field("requested_bytes", failure.requested);
  json.field("allocated_bytes", failure.allocated);
  json.field("reserved_bytes", failure.reserved);
  json.field("largest_free_bytes", failure.largest_free);
  json.field("where", std::string_view(failure.where));
  json.end_object();
}

void write_row(JsonWriter& json, const ReplayRow& row) {
  json.begin_object();
  json.field("setting", std::string_view(row.setting));
  json.field("peak_allocated_bytes", row.peak_allocated);
  json.field("peak_reserved_bytes", row.peak_reserved);
  json.field("unused_at_peak_bytes", row.unused_at_peak);
  json.field("retries", row.retries);
  json.field("recorded_failures", row.recorded_failures);
  json.field("recorded_failures_pass", row.recorded_failures_pass);
  if (row.failure) write_failure(json, *row.failure);
  json.end_object();
}

}  // namespace

std::string replay_json(const ReplayView& view) {
  JsonWriter json;
  json.begin_result("replay");
  json.field("source", std::string_view(view.source));
  json.field("producer", std::string_view(view.producer));
  json.field("recorded_settings", std::string_view(view.recorded_settings));
  if (view.capacity_bytes) json.field("capacity_bytes", *view.capacity_bytes);
  if (view.available_bytes) json.field("available_bytes", *view.available_bytes);
  json.field("recorded_peak_reserved_bytes", view.recorded_peak_reserved);
  json.field("reproduced", view.reproduced);
  json.field("start_is_exact", view.start_is_exact);
  json.begin_array("settings");
  for (const ReplayRow& row : view.rows) write_row(json, row);
  json.end_array();
  write_texts(json, "notes", view.notes);
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
