// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <utility>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "ledger/storage_copies.hpp"

namespace ullage::findings {

namespace {

/// The events of the forward passes of the step of the peak; of all of them where nothing steps.
std::pair<std::size_t, std::size_t> forward_events(const Subject& subject) {
  const auto* peak = subject.peak_phase();
  std::pair<std::size_t, std::size_t> events{0, 0};
  for (const auto& phase : subject.phases()) {
    if (phase.name != PhaseName::forward || peak == nullptr || phase.step != peak->step) continue;
    if (events.second == 0) events.first = phase.begin;
    events.second = phase.end;
  }
  return events;
}

std::vector<Finding> find_avoidable_copies(const Rule& rule, const Subject& subject) {
  const auto& facts = subject.facts();
  if (facts.run.trace == nullptr || facts.calls.empty()) return {};
  const auto [begin, end] = forward_events(subject);
  const auto copies = ledger::storage_copies(
      {facts.peak.timeline, facts.peak.allocations, facts.peak.labels, facts.run.trace, facts.calls}, begin, end,
      facts.peak.events);
  std::vector<Finding> result;
  for (const auto& copy : copies) {
    const bool repeats = copy.kind == ledger::CopyKind::repetition;
    if ((!repeats && copy.kind != ledger::CopyKind::clone) || copy.at_peak < subject.worth() || copy.line.empty())
      continue;
    result.push_back(
        finding_of(rule, copy.at_peak,
                   repeats ? "repeat() makes copies where expand() makes a view" : "a clone is alive at the peak",
                   {copy.line, {}}));
    result.back().evidence.push_back("lives as " + copy.lives);
    if (!repeats) result.back().next = "leave clone() out where nothing writes to the tensor";
  }
  return result;
}

}  // namespace

const Rule avoidable_copies{"avoidable_copies",
                            FindingLevel::opportunity,
                            "copies that a view would have avoided",
                            "Storages that repeat(), repeat_interleave() or tile() filled with the same values several "
                            "times, and clones, made in a forward "
                            "pass and alive at the peak. A clone is needed where something writes to it or to the "
                            "original; the finding cannot see that. "
                            "Needs the record of operators.",
                            "keys = keys.repeat(1, groups, 1, 1)       # expand() costs nothing",
                            "expand() instead of repeat(): a view, as long as nothing writes to it",
                            find_avoidable_copies};

}  // namespace ullage::findings
