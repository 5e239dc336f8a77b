// SPDX-License-Identifier: Apache-2.0
#include "report/reconcile_view.hpp"

#include "report/json/json_writer.hpp"
#include "report/json/ledger_lines.hpp"

namespace ullage::report {
namespace {

using findings::Comparison;

void write_columns(JsonWriter& json, const ReconcileView& view) {
  json.begin_array("columns");
  for (const ReconcileColumn& column : view.columns) {
    json.begin_object();
    json.field("id", std::string_view(column.id));
    json.field("source", std::string_view(column.source));
    json.field("moment", std::string_view(column.moment));
    json.field("producer", std::string_view(column.producer));
    if (column.time) {
      json.begin_object("time");
      json.field("seconds", column.time->seconds);
      json.field("low", column.time->low);
      json.field("high", column.time->high);
      json.field("known_by", std::string_view(column.time->known_by));
      json.end_object();
    }
    json.end_object();
  }
  json.end_array();
}

void write_configuration(JsonWriter& json, const ReconcileView& view) {
  json.begin_array("configuration");
  for (const auto& fact : view.configuration) {
    json.begin_object();
    json.field("key", std::string_view(fact.key));
    json.begin_object("values");
    for (std::size_t i = 0; i < view.columns.size(); ++i)
      if (fact.values[i]) json.field(view.columns[i].id, std::string_view(*fact.values[i]));
    json.end_object();
    bool differs = false;
    for (std::size_t i = 0; i < view.columns.size(); ++i)
      for (std::size_t j = i + 1; j < view.columns.size(); ++j) differs = differs || fact.differs(i, j);
    json.field("differs", differs);
    json.end_object();
  }
  json.end_array();
}

void write_line(JsonWriter& json, const ReconcileView& view, const ledger::JoinedLine& line, std::string_view name) {
  name.empty() ? json.begin_object() : json.begin_object(name);
  json.field("id", std::string_view(line.id));
  json.field("name", std::string_view(line.name));
  json.begin_object("bytes");
  for (std::size_t i = 0; i < view.columns.size(); ++i) json.field(view.columns[i].id, line.bytes[i]);
  json.end_object();
  json.begin_object("difference_bytes");
  for (const Comparison& one : view.comparisons)
    json.field(view.columns[one.column].id, line.difference(one.column, one.reference));
  json.end_object();
  if (!line.children.empty()) {
    json.begin_array("children");
    for (const auto& child : line.children) write_line(json, view, child, {});
    json.end_array();
  }
  json.end_object();
}

void write_explained(JsonWriter& json, const findings::ExplainedLine& one) {
  json.begin_object();
  json.field("id", std::string_view(one.line->id));
  json.field("name", std::string_view(one.line->name));
  json.field("difference_bytes", one.bytes);
  if (one.cause) {
    json.begin_object("cause");
    json.field("id", std::string_view(one.cause->id));
    json.field("text", std::string_view(one.cause->text));
    json.field("certain", one.cause->certain);
    if (one.cause->part) json.field("bytes", *one.cause->part);
    json.end_object();
  }
  json.end_object();
}

void write_comparison(JsonWriter& json, const ReconcileView& view, const Comparison& one) {
  json.begin_object();
  json.field("column", std::string_view(view.columns[one.column].id));
  json.field("reference", std::string_view(view.columns[one.reference].id));
  json.field("difference_bytes", one.bytes);
  json.field("explained_bytes", one.explained);
  json.field("unexplained_bytes", one.unexplained);
  if (!one.lines.empty()) json.field("largest", std::string_view(one.lines.front().line->id));
  json.begin_array("lines");
  for (const auto& line : one.lines) write_explained(json, line);
  json.end_array();
  json.end_object();
}

}  // namespace

std::string reconcile_json(const ReconcileView& view) {
  JsonWriter json;
  json.begin_result("reconcile");
  write_columns(json, view);
  write_configuration(json, view);
  write_line(json, view, view.joined.root, "ledger");
  json.begin_array("comparisons");
  for (const Comparison& one : view.comparisons) write_comparison(json, view, one);
  json.end_array();
  std::vector<std::string> notes = view.joined.notes;
  notes.insert(notes.end(), view.notes.begin(), view.notes.end());
  write_texts(json, "notes", notes);
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
