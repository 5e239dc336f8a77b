// SPDX-License-Identifier: Apache-2.0
#include "report/json/ledger_lines.hpp"

#include "report/json/findings.hpp"

namespace ullage::report {
void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.begin_array(name);
  for (const auto& text : texts) json.item(std::string_view(text));
  json.end_array();
}

void write_line(JsonWriter& json, const ledger::Line& line, std::string_view name) {
  if (name.empty())
    json.begin_object();
  else
    json.begin_object(name);
  json.field("id", std::string_view(line.id));
  json.field("name", std::string_view(line.name));
  json.field("bytes", line.bytes);
  json.field("known_by", ledger::name_of(line.known_by));
  if (const std::string_view by = ledger::name_of(line.attributed_by); !by.empty()) json.field("attributed_by", by);
  if (line.count > 0) json.field("allocations", line.count);
  if (!line.children.empty()) {
    json.begin_array("children");
    for (const auto& child : line.children) write_line(json, child, {});
    json.end_array();
  }
  json.end_object();
}

void write_evidence(JsonWriter& json, const EvidenceView& evidence) {
  json.begin_object("evidence");
  json.field("partial", evidence.partial);
  json.field("overflowed", evidence.overflowed);
  write_texts(json, "missing", evidence.missing);
  write_texts(json, "contradictions", evidence.contradictions);
  json.end_object();
}

void begin_moment(JsonWriter& json, const MomentView& view) {
  json.begin_result("ledger");
  json.field("source", std::string_view(view.source));
  json.field("format", std::string_view(view.format));
  json.field("producer", std::string_view(view.producer));
  json.field("moment", std::string_view(view.moment));
  json.begin_object("device");
  if (view.device) json.field("index", *view.device);
  if (view.capacity_bytes) json.field("capacity_bytes", *view.capacity_bytes);
  json.end_object();
  json.begin_object("peak");
  if (view.peak_allocated) json.field("allocated_bytes", *view.peak_allocated);
  if (view.peak_reserved) json.field("reserved_bytes", *view.peak_reserved);
  if (view.peak_requested) json.field("requested_bytes", *view.peak_requested);
  if (view.peak_used) json.field("used_bytes", *view.peak_used);
  json.end_object();
}

std::string ledger_json(const LedgerView& view) {
  JsonWriter json;
  begin_moment(json, view);
  write_line(json, view.ledger, "ledger");
  write_findings(json, view.found);
  write_evidence(json, view.evidence);
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
