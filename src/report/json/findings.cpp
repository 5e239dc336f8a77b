// SPDX-License-Identifier: Apache-2.0
#include "report/json/findings.hpp"

#include "report/json/ledger_lines.hpp"

namespace ullage::report {
namespace {

void write_finding(JsonWriter& json, const findings::Finding& finding) {
  json.begin_object();
  json.field("id", std::string_view(finding.id));
  json.field("level", name_of(finding.level));
  json.field("title", std::string_view(finding.title));
  json.field("bytes", finding.bytes);
  json.field("bytes_are", std::string_view(finding.bytes_are));
  if (!finding.code.line.empty()) json.field("line", std::string_view(finding.code.line));
  if (!finding.code.called_from.empty()) json.field("called_from", std::string_view(finding.code.called_from));
  write_texts(json, "evidence", finding.evidence);
  json.field("next", std::string_view(finding.next));
  json.end_object();
}

}  // namespace

void write_findings(JsonWriter& json, const FindingsView& view) {
  json.begin_array("findings");
  for (const auto& finding : view.findings) write_finding(json, finding);
  json.end_array();
  if (view.ignored > 0) json.field("ignored_findings", view.ignored);
}

std::string findings_json(const SourceFindings& found) {
  JsonWriter json;
  json.begin_result("findings");
  json.field("source", std::string_view(found.source));
  json.field("producer", std::string_view(found.producer));
  write_findings(json, found.view);
  write_evidence(json, found.evidence);
  json.end_object();
  return json.text();
}

std::string rules_json(std::span<const findings::Rule* const> rules) {
  JsonWriter json;
  json.begin_result("findings");
  json.begin_array("rules");
  for (const auto* rule : rules) {
    json.begin_object();
    json.field("id", rule->id);
    json.field("level", name_of(rule->level));
    json.field("title", rule->title);
    json.field("explains", rule->explains);
    json.field("example", rule->example);
    json.field("next", rule->next);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
