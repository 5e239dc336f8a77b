// SPDX-License-Identifier: Apache-2.0
#include "findings/subject.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "findings/survivors.hpp"
#include "findings/unreached.hpp"

namespace ullage::findings {

using attribution::PhaseSpan;
using ledger::MarkName;

Subject::Subject(Facts facts) : facts_(std::move(facts)) {
  const auto& all = allocations();
  for (AllocationId id = 0; id < all.count(); ++id) {
    if (!all.live_at(id, facts_.peak.events)) continue;
    live_.push_back(id);
    allocated_ += all.size[id];
  }
  take_phases();
  take_rounds();
  take_forwards();
}

Subject::~Subject() = default;

void Subject::take_phases() {
  const auto& run = facts_.run;
  if (run.history.cuts.size() != run.marks.size() || run.marks.empty()) {
    phases_.assign(facts_.phases.begin(), facts_.phases.end());
    return;
  }
  phases_ = ledger::spans_of(ledger::split_everywhere(run.marks), run.marks, run.history.cuts);
}

void Subject::take_rounds() {
  std::uint32_t step = 0;
  for (const PhaseSpan& phase : phases_) {
    if (phase.name != PhaseName::optimizer) continue;
    if (phase.step == step && !rounds_.empty()) rounds_.pop_back();  // several optimizers make one step
    rounds_.push_back(phase.end);
    step = phase.step;
  }
  if (!rounds_.empty() || facts_.run.history.cuts.size() != facts_.run.marks.size()) return;
  for (std::size_t i = 0; i < facts_.run.marks.size(); ++i) {
    if (facts_.run.marks[i].name == MarkName::forward_begin) rounds_.push_back(facts_.run.history.cuts[i]);
  }
}

void Subject::take_forwards() {
  const auto marks = facts_.run.marks;
  const auto cuts = facts_.run.history.cuts;
  if (cuts.size() != marks.size()) return;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i].name == MarkName::forward_begin)
      forwards_.push_back({cuts[i], cuts.back(), marks[i].step, marks[i].grad_enabled, marks[i].training});
    else if (marks[i].name == MarkName::forward_end && !forwards_.empty())
      forwards_.back().end = cuts[i];
  }
}

bool Subject::inside(AllocationId id, std::string_view operation) const {
  if (facts_.run.trace == nullptr || id >= facts_.calls.size()) return false;
  const auto& trace = *facts_.run.trace;
  for (auto call = facts_.calls[id]; call != timeline::no_call; call = trace.calls.parent[call]) {
    if (trace.strings.text(trace.calls.name[call]) == operation) return true;
  }
  return false;
}

const PhaseSpan* Subject::birth(AllocationId id) const {
  if (phases_.empty() || allocations().older(id)) return nullptr;
  return &phases_[attribution::phase_at(phases_, allocations().born[id])];
}

const PhaseSpan* Subject::death(AllocationId id) const {
  const std::uint32_t freed = allocations().freed[id];
  if (phases_.empty() || freed == timeline::Allocations::never) return nullptr;
  return &phases_[attribution::phase_at(phases_, freed)];
}

const PhaseSpan* Subject::peak_phase() const {
  const std::size_t events = facts_.peak.events;
  return phases_.empty() || events == 0 ? nullptr : &phases_[attribution::phase_at(phases_, events - 1)];
}

std::uint64_t worth_of(std::uint64_t peak) {
  constexpr std::uint64_t least = 1 << 20;
  return std::max(least, peak / 100 * 3);
}

std::uint64_t Subject::worth() const {
  return worth_of(allocated_);
}

bool Subject::has(PhaseName phase) const {
  return std::ranges::find(phases_, phase, &PhaseSpan::name) != phases_.end();
}

std::size_t Subject::round_before(std::size_t event) const {
  const auto after = std::ranges::upper_bound(rounds_, event);
  return after == rounds_.begin() ? 0 : *std::prev(after);
}

std::vector<const ledger::Tensor*> Subject::tensors(ledger::TensorClass wanted) const {
  const auto lists = facts_.run.lists;
  std::vector<const ledger::Tensor*> result;
  for (std::size_t i = lists.size(); i-- > 0;) {
    for (const auto& tensor : lists[i].tensors) {
      if (tensor.tensor_class == wanted) result.push_back(&tensor);
    }
    if (lists[i].complete[static_cast<std::size_t>(wanted)] && !result.empty()) break;
  }
  return result;
}

}  // namespace ullage::findings
