// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/explanation/last_fit.hpp"

#include "apps/ullage/evidence/cut.hpp"
#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/history/stored_result.hpp"
#include "apps/ullage/history/take_in.hpp"
#include "ledger/breakdown.hpp"
#include "ledger/reconciliation.hpp"
#include "store/time.hpp"

#include <algorithm>

namespace ullage::cli {
namespace {

/// Where the outermost own line of code of a stack is the body of a file: that file.
std::string script_of(const timeline::Timeline& timeline) {
  for (std::size_t i = 0; i < timeline.stacks.stack_count(); ++i) {
    const auto id = timeline::outermost_own_frame(timeline, static_cast<timeline::StackId>(i));
    if (!id) continue;
    const timeline::Frame& frame = timeline.stacks.frame(*id);
    const std::string_view file = timeline.strings.text(frame.file);
    if (timeline.strings.text(frame.name) == "<module>" && file.ends_with(".py")) return std::string(file);
  }
  return {};
}

std::string script_of(const Evidence& evidence) {
  if (evidence.run && evidence.run->facts.process) {
    const std::string script = store::command_parts(evidence.run->facts.process->argv).script;
    return script.ends_with(".py") ? script : "";
  }
  if (evidence.oom_log) return evidence.oom_log->script;
  return evidence.snapshot && evidence.timeline != nullptr ? script_of(*evidence.timeline) : "";
}

/// The newest run of that script that fitted, before the one that is explained.
std::optional<store::Summary> newest_fit(store::Store& store, const std::string& script,
                                         const std::optional<store::Record>& now) {
  store::Query query;
  query.filter.script = script.substr(script.find_last_of('/') + 1);
  query.filter.verdicts = {"fits", "tight"};
  if (now && now->summary.started_ms > 0) query.filter.until_ms = now->summary.started_ms;
  query.limit = 1;
  const auto rows = store.list(query);
  return rows && !rows->empty() ? std::optional((*rows)[0].summary) : std::nullopt;
}

/// The ledger of now, as far down as a stored result has it.
std::optional<ledger::Line> ledger_now(const Evidence& evidence) {
  if (evidence.timeline == nullptr || !evidence.account) return std::nullopt;
  auto chosen = choose_cut(evidence, "oom");
  if (!chosen) chosen = choose_cut(evidence, "peak");
  constexpr ledger::Level levels[] = {ledger::Level::kind};
  return chosen ? std::optional(ledger::chart(chosen->cut, levels)) : std::nullopt;
}

std::vector<report::ChangedSetting> changed(const store::Record& then, const store::Record& now) {
  std::vector<report::ChangedSetting> settings;
  for (const auto& one : store::differences(then.settings, now.settings))
    settings.push_back({name_of(one.group), one.key, one.before, one.after, store::is_chosen(one.group)});
  return settings;
}

void take_ledgers(report::LastFit& last, const report::RunResult& then, const Evidence& evidence) {
  if (then.peak) last.peak_allocated = then.peak->allocated;
  last.moment = then.ledger_of;
  auto now = ledger_now(evidence);
  if (!then.ledger || !now || !ledger::check(*then.ledger).empty()) return;
  ledger::Line before = *then.ledger;
  ledger::to_common_root({&before, &*now});
  last.difference = ledger::difference(before, *now);
}

}  // namespace

std::optional<report::LastFit> last_fit(const Evidence& evidence, const report::ExplainView& view) {
  if (!view.failure) return std::nullopt;
  const std::string script = script_of(evidence);
  auto store = script.empty() ? Result<std::optional<store::Store>>() : open_history();
  if (!store || !*store) return std::nullopt;
  std::optional<store::Record> now;
  if (evidence.run)
    if (auto record = read_record(evidence.path)) now = std::move(*record);
  const auto found = newest_fit(**store, script, now);
  const auto source = found ? (*store)->find(found->id) : std::optional<store::Source>();
  if (!source || !*source) return std::nullopt;
  const auto then = store::record_of(**source);
  if (!then) return std::nullopt;
  report::LastFit last{found->id,       found->name, found->kind, store::time_text(found->started_ms),
                       found->command,  {},          0,           {},
                       now.has_value(), {}};
  if (now) last.settings = changed(*then, *now);
  if (const auto result = stored_result(then->source.run_json, found->directory)) take_ledgers(last, *result, evidence);
  return last;
}

}  // namespace ullage::cli
