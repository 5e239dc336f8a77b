// SPDX-License-Identifier: Apache-2.0
#include "report/json/difference_view.hpp"

#include "report/json/ledger_lines.hpp"

namespace ullage::report {
void write_difference(JsonWriter& json, const ledger::Difference& line, std::string_view name) {
  if (name.empty())
    json.begin_object();
  else
    json.begin_object(name);
  json.field("id", std::string_view(line.id));
  json.field("name", std::string_view(line.name));
  json.field("before_bytes", line.before);
  json.field("after_bytes", line.after);
  json.field("difference_bytes", line.bytes());
  json.field("change", ledger::name_of(line.change));
  if (!line.children.empty()) {
    json.begin_array("children");
    for (const auto& child : line.children) write_difference(json, child, {});
    json.end_array();
  }
  json.end_object();
}

namespace {

void write_side(JsonWriter& json, std::string_view name, const std::string& source, const std::string& moment) {
  json.begin_object(name);
  json.field("source", std::string_view(source));
  json.field("moment", std::string_view(moment));
  json.end_object();
}

}  // namespace

void write_settings(JsonWriter& json, const std::vector<ChangedSetting>& settings) {
  json.begin_array("configuration");
  for (const ChangedSetting& one : settings) {
    json.begin_object();
    json.field("from", std::string_view(one.source));
    json.field("key", std::string_view(one.key));
    if (one.before) json.field("before", std::string_view(*one.before));
    if (one.after) json.field("after", std::string_view(*one.after));
    json.end_object();
  }
  json.end_array();
}

namespace {

void write_phases(JsonWriter& json, const std::vector<ChangedPhase>& phases) {
  json.begin_array("phases");
  for (const ChangedPhase& phase : phases) {
    json.begin_object();
    json.field("name", std::string_view(phase.name));
    if (phase.before) json.field("before_bytes", *phase.before);
    if (phase.after) json.field("after_bytes", *phase.after);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string difference_json(const DifferenceView& view) {
  JsonWriter json;
  json.begin_result("diff");
  write_side(json, "before", view.before, view.before_moment);
  write_side(json, "after", view.after, view.after_moment);
  write_difference(json, view.root, "difference");
  write_settings(json, view.settings);
  write_phases(json, view.phases);
  write_texts(json, "notes", view.notes);
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
