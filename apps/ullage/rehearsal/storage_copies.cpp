// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/storage_copies.hpp"

#include <algorithm>

namespace ullage::cli {
namespace {

using ledger::PhaseName;

struct Span {
  std::size_t begin = 0, end = 0;
  std::uint32_t step = 0;
};

constexpr std::uint32_t recorded_steps = 4;  // the hook records operators of the first five steps (operators.py)

/// The forward, backward and optimizer step of the last complete step within the recorded ones.
Span last_step(const ledger::RunLedger& built, std::span<const std::size_t> cuts) {
  Span span{0, cuts.back(), 0};
  for (const auto& phase : built.phases) {
    if (phase.name != PhaseName::optimizer || phase.step > recorded_steps) continue;
    span.step = phase.step;
    span.end = cuts[phase.end_mark];
    const auto first = std::ranges::find(built.phases, phase.step, &ledger::Phase::step);
    span.begin = cuts[first->begin_mark];
  }
  return span;
}

}  // namespace

void take_storage_copies(report::RunResult& result, const Attempt& attempt) {
  if (!attempt.account || attempt.account->calls.empty() || !attempt.ledger->exact) return;
  const auto& run = *attempt.run;
  const Span span = last_step(*attempt.ledger, run.join.cuts);
  ledger::CopySource source;
  source.timeline = &run.snapshot->timeline;
  source.allocations = &attempt.account->allocations;
  source.labels = &attempt.account->labels;
  source.trace = &run.operators->trace;
  source.calls = attempt.account->calls;
  const auto& where = attempt.ledger->phases[attempt.ledger->allocated_peak_phase];
  result.storage_copies = ledger::storage_copies(source, span.begin, span.end, where.peak_allocated_event + 1);
  result.storage_copies_step = span.step;
  result.view_calls = ledger::view_calls(source, span.begin, span.end);
}

}  // namespace ullage::cli
