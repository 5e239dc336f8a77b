// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ullage::cli {
namespace {

ledger::Cut cut_of(const Evidence& evidence, std::size_t events) {
  if (evidence.run) return ledger::cut_at(evidence.input, *evidence.account, events);
  timeline::BlockReplay replay(*evidence.timeline, evidence.initial);
  replay.advance_to(events);
  ledger::Cut cut;
  cut.timeline = evidence.timeline;
  cut.allocations = &evidence.account->allocations;
  cut.labels = &evidence.account->labels;
  cut.events = events;
  if (!evidence.trace_timeline)
    cut.reserved = replay.now().reserved;
  else if (!evidence.trace_timeline->reserved.empty())
    cut.reserved = evidence.trace_timeline->reserved[events == 0 ? 0 : events - 1];
  return cut;
}

std::string in_phase(const Evidence& evidence, std::size_t phase) {
  return ", in " + ledger::title_of(evidence.run_ledger->phases[phase]);
}

tl::unexpected<Error> no_moment(const std::string& moment, const std::string& expected) {
  return fail(ErrorKind::usage, "the evidence does not have this moment", moment, expected);
}

// A peak that was there from the start has no event that reached it.
std::size_t events_before(const Evidence& evidence, const timeline::Peak& peak, std::uint64_t at_start) {
  return evidence.timeline->events.count() == 0 || at_start == peak.bytes ? 0
                                                                          : static_cast<std::size_t>(peak.event) + 1;
}

// What a trace has at the same place: its phases are known, its steps are counted from the first in it.
std::string in_trace_phase(const Evidence& evidence, std::size_t events) {
  for (const auto& phase : evidence.trace_phases) {
    if (events > phase.begin && events <= phase.end && phase.name != attribution::PhaseName::run)
      return fmt::format(", in step {} {} of the trace", phase.step, ledger::name_of(phase.name));
  }
  return {};
}

// The segment that raised reserved memory was got for a block, whose event follows: behind it the memory is in use.
std::size_t with_its_block(const timeline::Events& events, std::size_t count) {
  const auto is = [&](std::size_t i, timeline::Action action) { return events.action[i] == action; };
  const bool grew =
      count > 0 && (is(count - 1, timeline::Action::segment_alloc) || is(count - 1, timeline::Action::segment_map));
  return grew && count < events.count() && is(count, timeline::Action::alloc) ? count + 1 : count;
}

ChosenCut peak_cut(const Evidence& evidence, bool reserved) {
  std::string title = reserved ? "the peak of reserved memory" : "the peak of allocated memory";
  if (evidence.run_ledger) {
    const auto& run = *evidence.run_ledger;
    const auto moment = reserved ? ledger::Moment::reserved_peak : ledger::Moment::allocated_peak;
    title += in_phase(evidence, reserved ? run.reserved_peak_phase : run.allocated_peak_phase);
    const std::size_t events = *ledger::events_at(evidence.input, run, moment);
    return {cut_of(evidence, reserved ? with_its_block(evidence.timeline->events, events) : events), title};
  }
  const timeline::Counters start = timeline::BlockReplay(*evidence.timeline, evidence.initial).now();
  const auto& peak = reserved ? evidence.whole.reserved : evidence.whole.allocated;
  std::size_t events = events_before(evidence, peak, reserved ? start.reserved : start.allocated);
  if (reserved) events = with_its_block(evidence.timeline->events, events);
  return {cut_of(evidence, events), title + in_trace_phase(evidence, events)};
}

/// The place where most is reserved and, of all such places, most is allocated.
std::size_t fullest_place(const Evidence& evidence) {
  timeline::BlockReplay replay(*evidence.timeline, evidence.initial);
  std::size_t place = 0;
  timeline::Counters most = replay.now();
  while (replay.step()) {
    const timeline::Counters& now = replay.now();
    if (std::pair(now.reserved, now.allocated) <= std::pair(most.reserved, most.allocated)) continue;
    most = now;
    place = replay.position();
  }
  return place;
}

std::string phase_at(const Evidence& evidence, std::size_t events) {
  if (!evidence.run_ledger) return {};
  const auto& phases = evidence.run_ledger->phases;
  const auto ends_behind = [&](const ledger::Phase& phase) {
    return evidence.input.history.cuts[phase.end_mark] >= events;
  };
  const auto found = std::ranges::find_if(phases, ends_behind);
  return found == phases.end() ? "" : in_phase(evidence, static_cast<std::size_t>(found - phases.begin()));
}

Result<ChosenCut> fullest_cut(const Evidence& evidence) {
  if (evidence.trace_timeline)
    return no_moment("fullest", "peak or end: a trace does not have the allocator's segments");
  const std::size_t events = fullest_place(evidence);
  return ChosenCut{cut_of(evidence, events),
                   "the most reserved and, of that, the most allocated" + phase_at(evidence, events)};
}

Result<ChosenCut> oom_cut(const Evidence& evidence) {
  if (const auto failed = timeline::last_out_of_memory(*evidence.timeline))
    return ChosenCut{cut_of(evidence, *failed), "the last failed request"};
  return no_moment("oom", "peak, reserved or end: no request failed");
}

// The same of a trace: the last phase of that name, steps counted in the trace.
Result<ChosenCut> trace_phase_cut(const Evidence& evidence, const std::string& moment, const std::string& name,
                                  const std::string& step) {
  std::string known;
  for (std::size_t i = evidence.trace_phases.size(); i-- > 0;) {
    const auto& phase = evidence.trace_phases[i];
    const std::string title = fmt::format("step {} {}", phase.step, ledger::name_of(phase.name));
    if (ledger::name_of(phase.name) == name && (step.empty() || std::to_string(phase.step) == step))
      return ChosenCut{cut_of(evidence, phase.end), "the end of " + title + " of the trace"};
    known = title + (known.empty() ? "" : ", ") + known;
  }
  return no_moment(moment, "one of: " + known);
}

// `phase:NAME` is of the last step that has it, `phase:STEP:NAME` of that step.
Result<ChosenCut> phase_cut(const Evidence& evidence, const std::string& moment) {
  const std::string rest = moment.substr(moment.find(':') + 1);
  const auto colon = rest.find(':');
  const std::string name = colon == rest.npos ? rest : rest.substr(colon + 1);
  if (evidence.trace_timeline)
    return trace_phase_cut(evidence, moment, name, colon == rest.npos ? "" : rest.substr(0, colon));
  if (!evidence.run_ledger || !evidence.run_ledger->exact) return no_moment(moment, "a run directory with its history");
  const auto& phases = evidence.run_ledger->phases;
  for (std::size_t i = phases.size(); i-- > 0;) {
    if (ledger::name_of(phases[i].name) != name) continue;
    if (colon != rest.npos && std::to_string(phases[i].step) != rest.substr(0, colon)) continue;
    const auto events = ledger::events_at(evidence.input, *evidence.run_ledger, ledger::Moment::phase_end, i);
    return ChosenCut{cut_of(evidence, *events), "the end of " + ledger::title_of(phases[i])};
  }
  std::string known;
  for (const auto& phase : phases) known += (known.empty() ? "" : ", ") + ledger::title_of(phase);
  return no_moment(moment, "one of: " + known);
}

}  // namespace

Result<ChosenCut> choose_cut(const Evidence& evidence, const std::string& moment) {
  if (evidence.counters && evidence.run)
    return fail(ErrorKind::bad_input, "the recording has no memory history, so there is no ledger of any moment",
                evidence.path, "a recording with the history of a step: ullage record --history STEP",
                "'ullage ledger' without --at shows the phase with the highest peak");
  if (evidence.timeline == nullptr || !evidence.account)
    return fail(ErrorKind::bad_input, "the source holds no allocations in order, so there is no ledger", evidence.path,
                "a memory snapshot or a run directory with one");
  if (moment == "peak") return peak_cut(evidence, false);
  if (moment == "reserved" && evidence.trace_timeline && !evidence.trace_timeline->has_totals)
    return no_moment(moment, "peak or end: the trace does not have the allocator's totals");
  if (moment == "reserved") return peak_cut(evidence, true);
  if (moment == "fullest") return fullest_cut(evidence);
  if (moment == "oom") return oom_cut(evidence);
  if (moment == "end")
    return ChosenCut{cut_of(evidence, evidence.timeline->events.count()), "the end of the recording"};
  if (moment.starts_with("phase:")) return phase_cut(evidence, moment);
  return fail(ErrorKind::usage, "unknown moment", moment, "peak, reserved, fullest, oom, end or phase:[STEP:]NAME");
}

}  // namespace ullage::cli
