// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/recording/result.hpp"
#include "apps/ullage/history/index.hpp"

#include "apps/ullage/evidence/findings.hpp"
#include "apps/ullage/paths.hpp"
#include "apps/ullage/planning/of_run.hpp"
#include "apps/ullage/recording/times.hpp"
#include "apps/ullage/recording/utilisation.hpp"
#include "apps/ullage/run_json.hpp"
#include "base/secrets.hpp"
#include "hardware/catalogue.hpp"
#include "ledger/texts.hpp"
#include "ledger/verdict.hpp"
#include "report/json/run_result.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

namespace ullage::cli {
namespace {

using ingest::RunDirectory;
using ingest::RunFacts;
using report::RunResult;

constexpr std::uint32_t first_steps = 3, last_steps = 2;
constexpr std::size_t phases_in_full = 400;
constexpr double tight_below = 0.15;

std::string this_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void take_device(RunResult& result, const RunFacts& facts) {
  if (!facts.device) return;
  result.device.name = facts.device->name;
  result.device.capacity_bytes = facts.device->total_bytes;
  result.device.compute_capability = facts.device->compute_capability;
  if (const auto gpu = find_gpu(facts.device->name)) result.device.short_name = (*gpu)->short_name;
}

void take_process(RunResult& result, const RunFacts& facts) {
  if (!facts.process) return;
  result.stack = {facts.process->torch, facts.process->cuda, facts.process->python};
  result.command = without_secrets(facts.process->argv);
}

/// Every phase of a short run; of a long one those of some steps.
void take_phases(RunResult& result, const ledger::RunLedger& built) {
  result.phases = built.phases;
  if (result.phases.size() <= phases_in_full) return;
  const std::uint32_t last = result.phases.back().step;
  const std::uint32_t peaks[] = {built.phases[built.allocated_peak_phase].step,
                                 built.phases[built.reserved_peak_phase].step};
  std::erase_if(result.phases, [&](const ledger::Phase& phase) {
    return phase.step > first_steps && phase.step + last_steps <= last && phase.step != peaks[0] &&
           phase.step != peaks[1];
  });
  result.notes.push_back(fmt::format(
      "of {} phases those of the first steps, of the peaks and of the last steps are listed", built.phases.size()));
}

/// Phases and peaks of the whole run, by the marks' counters.
std::optional<ledger::RunLedger> whole_ledger(const RunDirectory& run) {
  ledger::RunInput input = run.ledger_input();
  input.history = {};
  input.marks = run.whole_facts().marks;
  input.lists = run.whole_facts().lists;
  if (run.whole) input.device_bytes = {};
  return ledger::build(input);
}

/// The tree: of the moment that a memory history shows, else of the end of the phase with the highest peak.
void take_tree(RunResult& result, const RunDirectory& run, const ledger::RunLedger& whole) {
  const auto input = run.ledger_input();
  const auto account = ledger::make_account(input);
  const auto built = account ? ledger::build(input, &*account) : std::nullopt;
  const ledger::RunLedger& shown = built ? *built : whole;
  result.ledger = shown.used;
  result.ledger_of = (shown.exact ? "peak of allocated memory, in " : "end of ") +
                     ledger::title_of(shown.phases[shown.allocated_peak_phase]);
  result.below_peak = whole.peak.allocated - std::min(whole.peak.allocated, shown.peak.allocated) + shown.below_peak;
  result.found.findings =
      built ? findings_of_run(run, *account, *built, run.facts.device->total_bytes, {}) : findings_of_steps(run);
}

void take_ledger(RunResult& result, const RunDirectory& run) {
  const auto built = whole_ledger(run);
  if (!built || !run.facts.device) return;
  take_phases(result, *built);
  result.peak = report::PeakInfo{built->peak.allocated,
                                 built->peak.reserved,
                                 built->peak.requested,
                                 built->peak.used,
                                 built->peak.step,
                                 ledger::name_of(built->peak.phase),
                                 {}};
  take_tree(result, run, *built);
}

bool ended_by_oom(const RunFacts& facts) {
  return facts.exception ? facts.exception->oom : !facts.end && !facts.ooms.empty();
}

void take_out_of_memory(RunResult& result, const RunFacts& facts) {
  const bool ended = ended_by_oom(facts);
  for (const auto& oom : facts.ooms) {
    report::OutOfMemoryEvent event{oom.requested_bytes, oom.step, oom.phase, oom.module, oom.line, {}, true};
    event.caught = !ended || &oom != &facts.ooms.back();
    if (!event.caught && facts.exception) event.text = facts.exception->text;
    result.ooms.push_back(std::move(event));
  }
  if (ended && !facts.ooms.empty()) result.requested_bytes = facts.ooms.back().requested_bytes;
}

void judge(RunResult& result, const RunFacts& facts) {
  if (result.peak) {
    const auto judged = ledger::judge(result.device.capacity_bytes, result.peak->used, tight_below, 0);
    result.headroom_bytes = judged.left_bytes;
    result.headroom_fraction = judged.fraction;
    // A real device cannot hold more than it has: two maxima of different moments were added.
    const bool too_much = judged.verdict == ledger::Verdict::oom && !facts.recording->rehearsal;
    result.verdict = ledger::name_of(too_much ? ledger::Verdict::tight : judged.verdict);
    if (judged.verdict == ledger::Verdict::oom && facts.recording->rehearsal)
      result.missing_bytes = judged.missing_bytes;
    const bool whole = facts.end && facts.end->status == "ok";
    const std::uint64_t refused = result.requested_bytes.value_or(0);
    (whole ? result.needed_bytes : result.needed_at_least_bytes) = result.peak->used + refused;
    if (whole) result.needed_reserved_bytes = result.peak->reserved;
  }
  if (ended_by_oom(facts)) {
    result.verdict = "oom";
  } else if (!facts.end || facts.end->status != "ok") {
    result.verdict = "failed";
    if (facts.exception) result.exception = report::ScriptError{facts.exception->type, facts.exception->text};
  }
}

void take_plan(RunResult& result, const RunFacts& facts) {
  if (!facts.device) return;
  if (const auto gpu = find_gpu(facts.device->name)) result.plan = plan_of_run(facts, *gpu, facts.device->total_bytes);
}

/// A rehearsal's kernels do nothing: how long its steps take is nobody's figure.
void take_rates(RunResult& result, const RunFacts& facts) {
  if (facts.recording->rehearsal) {
    result.notes.emplace_back(
        "made within a rehearsal: memory is that of the training, times are not, and none is given");
    std::ranges::for_each(result.phases, [](ledger::Phase& phase) { phase.seconds = 0; });
    return;
  }
  take_times(result, facts);
  take_utilisation(result, facts);
}

report::RecordedInfo recorded_info(const RunFacts& facts) {
  report::RecordedInfo info;
  info.name = facts.recording->name;
  info.rank = facts.recording->rank;
  info.world_size = facts.recording->world_size;
  info.samples = facts.samples.size();
  const auto raise = [](std::uint64_t& peak, std::uint64_t value) { peak = std::max(peak, value); };
  for (const auto& sample : facts.samples) {
    raise(info.resident_peak_bytes, sample.resident_bytes);
    raise(info.pinned_peak_bytes, sample.pinned_bytes);
    raise(info.workers_peak_bytes, sample.children_bytes);
    raise(info.device_used_peak_bytes, sample.device_used_bytes);
    raise(info.process_used_peak_bytes, sample.process_used_bytes);
  }
  info.problems = facts.end ? facts.end->problems : 0;
  info.lost_bytes = facts.lost_bytes;
  for (const auto& step : facts.left_out) info.left_out.push_back({step.step, step.why});
  return info;
}

bool process_lives(std::int64_t pid) {
  return pid > 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

}  // namespace

RunResult result_of_recording(const RunDirectory& run) {
  RunResult result;
  result.made_by = "record";
  result.run_directory = full_path(run.path).string();
  const RunFacts& facts = run.whole_facts();
  take_device(result, facts);
  take_process(result, facts);
  for (const auto& mark : facts.marks) result.steps = std::max(result.steps, ended_step(mark));
  result.recorded = recorded_info(facts);
  take_ledger(result, run);
  take_plan(result, facts);
  take_rates(result, facts);
  take_out_of_memory(result, facts);
  judge(result, facts);
  result.partial = run.partial;
  result.missing = run.notes;
  result.notes.insert(result.notes.end(), facts.notes.begin(), facts.notes.end());
  return result;
}

Result<RunResult> result_of_recording(const std::string& directory) {
  auto run = ingest::read_run_directory(directory);
  if (!run) return tl::unexpected(run.error());
  if (!run->facts.recording) return fail(ErrorKind::bad_input, "this run is no recording", directory);
  return result_of_recording(*run);
}

bool recording_has_ended(const RunDirectory& run) {
  if (run.facts.end) return true;
  const bool here = run.facts.recording && run.facts.recording->host == this_host();
  return here && run.facts.process && !process_lives(run.facts.process->pid);
}

void settle_recording(const RunDirectory& run) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::path(run.path) / "run.json", error) || !recording_has_ended(run)) return;
  if (write_run_json(run.path, report::result_json(result_of_recording(run)))) index_run(run.path);
}

}  // namespace ullage::cli
