// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/stored_result.hpp"

#include "store/json_text.hpp"
#include "store/json_value.hpp"
#include "store/line_check.hpp"

namespace ullage::cli {
namespace {

using store::at;
using store::count_of;
using store::count_or_0;
using store::items_of;
using store::Json;
using store::ordinal_of;
using store::text_of;

/// The value whose name a text is; the last where none has it.
template <class Enum>
Enum named(const std::string& text, Enum first, Enum last) {
  for (int i = static_cast<int>(first); i < static_cast<int>(last); ++i)
    if (text == name_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
  return last;
}

ledger::Phase phase_of(const Json& json) {
  ledger::Phase phase;
  phase.name = named(text_of(at(&json, "name")), ledger::PhaseName::load, ledger::PhaseName::run);
  phase.step = ordinal_of(at(&json, "step"));
  phase.micro_batch = ordinal_of(at(&json, "micro_batch"));
  phase.allocated = count_or_0(at(&json, "allocated_bytes"));
  phase.reserved = count_or_0(at(&json, "reserved_bytes"));
  phase.peak_allocated = count_or_0(at(&json, "peak_allocated_bytes"));
  phase.peak_reserved = count_or_0(at(&json, "peak_reserved_bytes"));
  return phase;
}

report::PeakInfo peak_of(const Json& json) {
  report::PeakInfo peak;
  peak.allocated = count_or_0(at(&json, "allocated_bytes"));
  peak.reserved = count_or_0(at(&json, "reserved_bytes"));
  peak.requested = count_or_0(at(&json, "requested_bytes"));
  peak.used = count_or_0(at(&json, "used_bytes"));
  peak.step = ordinal_of(at(&json, "step"));
  peak.phase = text_of(at(&json, "phase"));
  peak.where = text_of(at(&json, "where"));
  return peak;
}

findings::Finding finding_of(const Json& json) {
  findings::Finding finding;
  finding.id = text_of(at(&json, "id"));
  finding.level =
      named(text_of(at(&json, "level")), findings::FindingLevel::problem, findings::FindingLevel::opportunity);
  finding.bytes = count_or_0(at(&json, "bytes"));
  finding.bytes_are = text_of(at(&json, "bytes_are"));
  finding.title = text_of(at(&json, "title"));
  finding.code.line = text_of(at(&json, "line"));
  return finding;
}

report::OutOfMemoryEvent oom_of(const Json& json) {
  report::OutOfMemoryEvent oom;
  oom.requested_bytes = count_or_0(at(&json, "requested_bytes"));
  oom.step = ordinal_of(at(&json, "step"));
  oom.phase = text_of(at(&json, "phase"));
  oom.module = text_of(at(&json, "module"));
  oom.line = text_of(at(&json, "line"));
  const Json* caught = at(&json, "caught");
  oom.caught = caught != nullptr && caught->IsBool() && caught->GetBool();
  return oom;
}

void take_verdict(const Json& json, report::RunResult& result) {
  result.verdict = text_of(at(&json, "verdict"));
  if (const Json* code = at(&json, "script_exit_code"); code != nullptr && code->IsInt())
    result.script_exit_code = code->GetInt();
  if (const Json* exception = at(&json, "exception"))
    result.exception = report::ScriptError{text_of(at(exception, "type")), text_of(at(exception, "text"))};
  result.needed_bytes = count_of(at(&json, "needed_bytes"));
  result.needed_at_least_bytes = count_of(at(&json, "needed_at_least_bytes"));
  result.needed_reserved_bytes = count_of(at(&json, "needed_reserved_bytes"));
  result.missing_bytes = count_or_0(at(&json, "missing_bytes"));
  result.reserve_bytes = count_or_0(at(&json, "reserve_bytes"));
  result.headroom_bytes = count_or_0(at(&json, "headroom", "bytes"));
  if (const Json* share = at(&json, "headroom", "fraction"); share != nullptr && share->IsNumber())
    result.headroom_fraction = share->GetDouble();
  result.steps = ordinal_of(at(&json, "steps"));
  for (const Json& oom : items_of(at(&json, "out_of_memory"))) result.ooms.push_back(oom_of(oom));
}

void take_ledger(const Json& json, report::RunResult& result) {
  if (const Json* peak = at(&json, "peak")) result.peak = peak_of(*peak);
  for (const Json& phase : items_of(at(&json, "phases"))) result.phases.push_back(phase_of(phase));
  if (const Json* ledger = at(&json, "ledger")) result.ledger = ledger_line(*ledger);
  result.ledger_of = text_of(at(&json, "ledger_of"));
  result.below_peak = count_or_0(at(&json, "ledger_below_peak_bytes"));
  const Json* unlimited = at(&json, "ledger_unlimited");
  result.ledger_unlimited = unlimited != nullptr && unlimited->IsBool() && unlimited->GetBool();
}

}  // namespace

ledger::Line ledger_line(const Json& json) {
  ledger::Line line;
  line.id = text_of(at(&json, "id"));
  line.name = text_of(at(&json, "name"));
  line.bytes = count_or_0(at(&json, "bytes"));
  line.known_by = named(text_of(at(&json, "known_by")), ledger::KnownBy::measured, ledger::KnownBy::assumed);
  if (const std::string by = text_of(at(&json, "attributed_by")); !by.empty())
    line.attributed_by = named(by, ledger::AttributedBy::named, ledger::AttributedBy::annotation);
  line.count = count_or_0(at(&json, "allocations"));
  for (const Json& child : items_of(at(&json, "children"))) line.children.push_back(ledger_line(child));
  return line;
}

Result<report::RunResult> stored_result(const std::string& run_json, const std::string& where) {
  const auto json = store::parse_object(run_json, where);
  if (!json) return tl::unexpected(json.error());
  if (auto checked = store::check_result(*json); !checked) {
    checked.error().where = where;
    return tl::unexpected(checked.error());
  }
  report::RunResult result;
  take_verdict(*json, result);
  take_ledger(*json, result);
  for (const Json& finding : items_of(at(&*json, "findings"))) result.found.findings.push_back(finding_of(finding));
  return result;
}

}  // namespace ullage::cli
