// SPDX-License-Identifier: Apache-2.0
#include "store/record.hpp"

#include "base/text.hpp"
#include "store/json_text.hpp"
#include "store/json_value.hpp"
#include "store/time.hpp"

#include <algorithm>

namespace ullage::store {
namespace {

std::string kind_of(const Json& run) {
  return text_of(at(&run, "command")) == "record" ? "recording" : "rehearsal";
}

/// docs/command_line.md, exit codes of `rehearse`.
int exit_code_of(const Json& run, const std::string& verdict) {
  if (verdict == "oom") return 1;
  if (verdict == "failed") return 5;
  if (verdict == "timeout") return 6;
  const Json* host = at(&run, "host");
  const bool asked = text_of(at(host, "capacity_of")) == "host-memory";
  return asked && text_of(at(host, "verdict")) == "exceeded" ? 1 : 0;
}

std::vector<std::string> texts_of(const Json* list) {
  std::vector<std::string> texts;
  for (const Json& item : items_of(list)) texts.push_back(text_of(&item));
  return texts;
}

void take_lines(const Json& line, unsigned depth, std::vector<LedgerLine>& lines) {
  if (!line.IsObject()) return;
  lines.push_back({text_of(at(&line, "id")), text_of(at(&line, "name")), depth, count_or_0(at(&line, "bytes"))});
  for (const Json& child : items_of(at(&line, "children"))) take_lines(child, depth + 1, lines);
}

Phase phase_of(const Json& phase) {
  return {ordinal_of(at(&phase, "step")),
          ordinal_of(at(&phase, "micro_batch")),
          text_of(at(&phase, "name")),
          count_or_0(at(&phase, "allocated_bytes")),
          count_or_0(at(&phase, "reserved_bytes")),
          count_or_0(at(&phase, "peak_allocated_bytes")),
          count_or_0(at(&phase, "peak_reserved_bytes"))};
}

void add(std::vector<Setting>& settings, SettingGroup group, std::string key, std::string text) {
  if (!text.empty()) settings.push_back(setting(group, std::move(key), std::move(text)));
}

std::vector<Setting> settings_of(const Json& run, const Summary& summary) {
  const CommandParts parts = command_parts(summary.command);
  std::vector<Setting> settings = settings_of_arguments(parts.arguments);
  add(settings, SettingGroup::launcher, "launcher", parts.launcher);
  if (const Json* variables = at(&run, "run", "environment"); variables != nullptr && variables->IsObject())
    for (const auto& variable : variables->GetObject())
      add(settings, SettingGroup::environment, text_of(&variable.name), text_of(&variable.value));
  add(settings, SettingGroup::device, "gpu", summary.gpu);
  if (const auto bytes = count_of(at(&run, "device", "capacity_bytes")))
    add(settings, SettingGroup::device, "memory", std::to_string(*bytes));
  add(settings, SettingGroup::inputs, "input shapes", join(texts_of(at(&run, "run", "input_shapes")), " "));
  add(settings, SettingGroup::stack, "torch", summary.torch);
  add(settings, SettingGroup::stack, "cuda", summary.cuda);
  add(settings, SettingGroup::stack, "python", summary.python);
  add(settings, SettingGroup::code, "script", summary.script);
  add(settings, SettingGroup::code, "commit", summary.commit + (summary.dirty.value_or(false) ? " and changes" : ""));
  return settings;
}

std::string name_of(const Json& run, const std::string& script) {
  std::string name = text_of(at(&run, "run", "name"));
  if (name.empty()) name = text_of(at(&run, "recording", "name"));
  if (!name.empty()) return name;
  name = script.substr(script.find_last_of('/') + 1);
  return name.ends_with(".py") ? name.substr(0, name.size() - 3) : name;
}

Summary summary_of(const Json& run, const Source& source) {
  Summary summary;
  summary.id = source.id;
  summary.directory = source.directory;
  summary.kind = kind_of(run);
  summary.command = texts_of(at(&run, "script"));
  summary.script = command_parts(summary.command).script;
  summary.name = name_of(run, summary.script);
  const auto started = parse_time(text_of(at(&run, "run", "started")), false);
  summary.started_ms = started.value_or(source.changed_ms);
  summary.verdict = text_of(at(&run, "verdict"));
  summary.exit_code = exit_code_of(run, summary.verdict);
  summary.gpu = text_of(at(&run, "device", "short_name"));
  if (summary.gpu.empty()) summary.gpu = text_of(at(&run, "device", "name"));
  summary.torch = text_of(at(&run, "stack", "torch"));
  summary.cuda = text_of(at(&run, "stack", "cuda"));
  summary.python = text_of(at(&run, "stack", "python"));
  summary.commit = text_of(at(&run, "run", "code", "commit"));
  if (const Json* dirty = at(&run, "run", "code", "dirty"); dirty != nullptr && dirty->IsBool())
    summary.dirty = dirty->GetBool();
  return summary;
}

}  // namespace

std::vector<PhasePeak> phase_peaks(const std::vector<Phase>& phases) {
  std::vector<PhasePeak> peaks;
  for (const Phase& phase : phases) {
    const auto known = std::ranges::find(peaks, phase.name, &PhasePeak::name);
    if (known == peaks.end())
      peaks.push_back({phase.name, phase.peak_allocated});
    else
      known->allocated = std::max(known->allocated, phase.peak_allocated);
  }
  return peaks;
}

Result<Record> record_of(Source source) {
  const auto parsed = parse_object(source.run_json, source.directory + "/run.json");
  if (!parsed) return tl::unexpected(parsed.error());
  const Json& run = *parsed;
  Record record;
  record.summary = summary_of(run, source);
  record.settings = settings_of(run, record.summary);
  record.summary.configuration = configuration_hash(record.summary.script, record.settings);
  for (const Json& phase : items_of(at(&run, "phases"))) record.phases.push_back(phase_of(phase));
  if (const Json* ledger = at(&run, "ledger")) take_lines(*ledger, 0, record.lines);
  record.metrics = metrics_of(run);
  record.source = std::move(source);
  return record;
}

}  // namespace ullage::store
