// SPDX-License-Identifier: Apache-2.0
#include "report/difference_view.hpp"

#include "report/json/json_writer.hpp"
#include "report/json/ledger_lines.hpp"

namespace ullage::report {
namespace {

void write(JsonWriter& json, const ledger::Difference& line, std::string_view name) {
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
    for (const auto& child : line.children) write(json, child, {});
    json.end_array();
  }
  json.end_object();
}

void write_side(JsonWriter& json, std::string_view name, const std::string& source, const std::string& moment) {
  json.begin_object(name);
  json.field("source", std::string_view(source));
  json.field("moment", std::string_view(moment));
  json.end_object();
}

}  // namespace

std::string difference_json(const DifferenceView& view) {
  JsonWriter json;
  json.begin_result("diff");
  write_side(json, "before", view.before, view.before_moment);
  write_side(json, "after", view.after, view.after_moment);
  write(json, view.root, "difference");
  write_texts(json, "notes", view.notes);
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
