// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/assemble.hpp"

#include "apps/ullage/device.hpp"
#include "apps/ullage/planning/of_run.hpp"
#include "apps/ullage/rehearsal/files.hpp"
#include "apps/ullage/rehearsal/host.hpp"
#include "apps/ullage/rehearsal/observed.hpp"
#include "apps/ullage/rehearsal/origin.hpp"
#include "apps/ullage/rehearsal/storage_copies.hpp"
#include "base/bytes.hpp"
#include "base/secrets.hpp"
#include "ledger/texts.hpp"
#include "ledger/verdict.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace ullage::cli {
namespace {

using report::RunResult;

report::StackInfo stack_info(const Attempt& attempt) {
  if (!attempt.run || !attempt.run->facts.process) return {};
  const auto& process = *attempt.run->facts.process;
  return {process.torch, process.cuda, process.python};
}

std::string moment(const ledger::Phase& phase, bool exact) {
  return (exact ? "peak of allocated memory, in " : "end of ") + ledger::title_of(phase);
}

/// The line of code of the allocation at which allocated memory was highest.
std::string peak_line(const Attempt& attempt) {
  const auto& ledger = *attempt.ledger;
  const auto& phase = ledger.phases[ledger.allocated_peak_phase];
  const auto& snapshot = attempt.run->snapshot;
  if (!snapshot || !phase.peaks_exact || phase.peak_allocated_event >= snapshot->timeline.events.count()) return {};
  const auto& timeline = snapshot->timeline;
  return ledger::line_text(timeline, timeline.events.stack[phase.peak_allocated_event]);
}

void take_ledger(RunResult& result, const Attempt& attempt, bool unlimited) {
  const auto& built = *attempt.ledger;
  const auto& phase = built.phases[built.allocated_peak_phase];
  result.phases = built.phases;
  result.peak = report::PeakInfo{built.peak.allocated, built.peak.reserved, built.peak.requested,
                                 built.peak.used,      built.peak.step,     ledger::name_of(built.peak.phase),
                                 peak_line(attempt)};
  result.ledger = built.used;
  if (attempt.account && built.exact) {
    constexpr std::size_t most = 8;
    const auto input = attempt.run->ledger_input();
    const auto events = ledger::events_at(input, built, ledger::Moment::allocated_peak);
    result.largest_owners = ledger::largest_owners(ledger::cut_at(input, *attempt.account, *events), most);
  }
  result.ledger_of = moment(phase, built.exact);
  result.below_peak = built.below_peak;
  result.ledger_unlimited = unlimited;
}

std::uint64_t used_peak(const Attempt* attempt) {
  return attempt && attempt->ledger ? attempt->ledger->peak.used : 0;
}

std::uint64_t retries_of(const Attempt& attempt) {
  return attempt.run && !attempt.run->facts.marks.empty() ? attempt.run->facts.marks.back().counters.retries : 0;
}

/// What the run needs without a limit; a failed second run leaves a bound only.
void take_needs(RunResult& result, const Attempt& first, const Attempt* second) {
  if (second == nullptr) {
    const bool broke_off = result.verdict == "failed" || result.verdict == "timeout";
    if (broke_off && first.ledger)
      result.needed_at_least_bytes = used_peak(&first);
    else if (first.ledger)
      result.needed_bytes = used_peak(&first), result.needed_reserved_bytes = first.ledger->peak.reserved;
    return;
  }
  if (second->ledger && ending_of(*second) == Ending::done) {
    result.needed_bytes = used_peak(second);
    if (result.verdict == "fits" || result.verdict == "tight")
      result.notes.push_back(
          fmt::format("the allocator had to give cached memory back {} times to stay within the device; "
                      "without a limit the run would use {}",
                      retries_of(first), format_bytes(used_peak(second))));
    result.needed_reserved_bytes = second->ledger->peak.reserved;
    return;
  }
  result.needed_at_least_bytes = std::max(used_peak(second), used_peak(&first) + result.requested_bytes.value_or(0));
  result.notes.push_back("the second run, with unlimited memory, did not reach its end: only a lower bound is known");
  if (isatty(0) == 0)
    result.notes.push_back("the first run may have read the standard input that the second one needed");
}

void judge_memory(RunResult& result, const RehearsalOptions& options, const Attempt& first, Ending ending) {
  const auto judged = ledger::judge(options.capacity_bytes, used_peak(&first), options.headroom, options.reserve_bytes);
  result.headroom_bytes = judged.left_bytes;
  result.headroom_fraction = judged.fraction;
  result.missing_bytes = judged.missing_bytes;
  result.verdict = ledger::name_of(judged.verdict);
  if (ending == Ending::failed) {
    result.verdict = "failed";
    if (first.run && first.run->facts.exception)
      result.exception = report::ScriptError{first.run->facts.exception->type, first.run->facts.exception->text};
  }
  if (ending == Ending::timed_out) result.verdict = "timeout";
  if (ending == Ending::out_of_memory) result.verdict = "oom";
}

void judge_need(RunResult& result, const RehearsalOptions& options) {
  if (result.verdict != "oom") return;
  const std::uint64_t need = result.needed_bytes.value_or(result.needed_at_least_bytes.value_or(0));
  const auto judged = ledger::judge(options.capacity_bytes, need, options.headroom, options.reserve_bytes);
  result.missing_bytes = judged.missing_bytes;
  result.headroom_bytes = 0;
  result.headroom_fraction = 0;
}

void take_cards(RunResult& result, const RehearsalOptions& options) {
  if (!result.needed_bytes) return;
  const std::uint64_t without_context =
      *result.needed_bytes - std::min(*result.needed_bytes, result.device.context.bytes);
  for (const Gpu& gpu : gpus()) {
    if (gpu.cc_major < 7 || (gpu.cc_major == 7 && gpu.cc_minor < 5)) continue;  // no code in a CUDA 13 wheel
    const std::uint64_t context = context_bytes(gpu);
    const auto judged =
        ledger::judge(gpu.capacity_bytes(), without_context + context, options.headroom, options.reserve_bytes);
    const bool same = gpu.cc_major == options.gpu->cc_major && gpu.cc_minor == options.gpu->cc_minor;
    result.cards.push_back({std::string(gpu.short_name), gpu.capacity_bytes(), judged.verdict != ledger::Verdict::oom,
                            judged.verdict == ledger::Verdict::tight, !same});
  }
  const auto smaller = [](const auto& a, const auto& b) { return a.capacity_bytes < b.capacity_bytes; };
  std::stable_sort(result.cards.begin(), result.cards.end(), smaller);
}

/// A status that is not 0 although all was measured.
std::string late_failure(const Attempt& attempt) {
  if (attempt.run->facts.stop)
    return fmt::format("the script did not end well after it was stopped (status {}{}); all was measured before",
                       attempt.outcome.exit_status, attempt.outcome.timed_out ? ", time limit" : "");
  return "Python aborted while it shut down, after the work was done";
}

void take_static_runtime(RunResult& result, const Attempt& attempt) {
  std::ifstream file(std::filesystem::path(attempt.directory) / "static_runtime");
  for (std::string library; std::getline(file, library);)
    result.notes.push_back(library + " carries a statically linked CUDA runtime, which cannot be rehearsed");
}

/// process-PID.txt: the peak of a process that used the device beside the one that the run is about.
void take_other_processes(RunResult& result, const Attempt& attempt) {
  std::error_code error;
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(attempt.directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("process-") && name.ends_with(".txt")) found.insert(entry.path().string());
  }
  for (const auto& path : found) {
    std::uint64_t bytes = 0;
    if (std::ifstream file(path); file >> bytes)
      result.notes.push_back(fmt::format(
          "another process of the command took {} of device memory, which is not counted here", format_bytes(bytes)));
  }
}

void take_problems(RunResult& result, const Attempt& attempt) {
  if (!attempt.run) result.missing.push_back(attempt.no_run);
  result.partial = !attempt.run || attempt.run->partial;
  if (attempt.run && attempt.run->facts.end && !attempt.run->facts.end->snapshot_error.empty())
    result.missing.push_back("PyTorch's snapshot could not be written: " + attempt.run->facts.end->snapshot_error);
  if (attempt.run)
    for (const auto& note : attempt.run->facts.notes) result.notes.push_back(note);
  if (attempt.run) {
    const auto& notes = attempt.run->notes;
    result.missing.insert(result.missing.end(), notes.begin(), notes.end());
  }
  for (const auto& problem : attempt.outcome.problems) result.notes.push_back(problem);
  if (attempt.outcome.stragglers > 0)
    result.notes.push_back(fmt::format("{} processes outlived the command and were ended", attempt.outcome.stragglers));
  if (attempt.outcome.exit_status != 0 && ending_of(attempt) == Ending::done)
    result.notes.push_back(late_failure(attempt));
  take_static_runtime(result, attempt);
  take_other_processes(result, attempt);
}

std::vector<findings::Finding> findings_of(const RehearsalOptions& options, const Attempt& attempt, bool fits) {
  if (!attempt.run) return {};
  if (!attempt.account || !attempt.ledger) return findings_of_steps(*attempt.run);
  return findings_of_run(*attempt.run, *attempt.account, *attempt.ledger, options.capacity_bytes,
                         {options.headroom, options.reserve_bytes, fits});
}

std::vector<findings::Finding> findings_of(const RehearsalOptions& options, const Attempt& first, const Attempt* second,
                                           const RunResult& result) {
  auto found = findings_of(options, first, result.verdict == "fits" || result.verdict == "tight");
  return result.ledger_unlimited ? joined(std::move(found), findings_of(options, *second, false)) : found;
}

}  // namespace

RunResult assemble(const RehearsalOptions& options, const report::RunOrigin& origin, const Attempt& first,
                   const Attempt* second, const std::vector<Ignored>& ignored) {
  RunResult result;
  result.origin = origin;
  const Ending ending = ending_of(first);
  result.device = device_info(*options.gpu, options.capacity_bytes);
  result.stack = stack_info(first);
  result.reserve_bytes = options.reserve_bytes;
  result.command = without_secrets(options.command);
  result.run_directory = first.directory;
  result.script_exit_code = first.outcome.exit_status;
  judge_memory(result, options, first, ending);
  take_out_of_memory(result, first, ending == Ending::out_of_memory);
  take_needs(result, first, second);
  judge_need(result, options);
  const bool unlimited = second && second->ledger && ending == Ending::out_of_memory;
  const Attempt& shown = unlimited ? *second : first;
  if (shown.ledger) take_ledger(result, shown, unlimited);
  if (shown.run) result.plan = plan_of_run(shown.run->facts, options.gpu, options.capacity_bytes);
  take_storage_copies(result, shown);
  take_observations(result, shown);
  take_input_shapes(result, shown);
  take_host_memory(result, options, shown);
  take_inputs(result, shown);
  take_cards(result, options);
  take_files(result, options, second ? *second : first);
  take_problems(result, first);
  result.found = without_ignored(findings_of(options, first, second, result), ignored);
  return result;
}

}  // namespace ullage::cli
