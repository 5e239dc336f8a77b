// SPDX-License-Identifier: Apache-2.0
#include "ledger/phases.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace ullage::ledger {

namespace {

class Splitter {
 public:
  explicit Splitter(std::span<const Mark> marks) : marks_(marks) { open(PhaseName::load, 0); }

  std::vector<Phase> run() {
    for (std::size_t i = 1; i < marks_.size(); ++i) take(i);
    if (in(PhaseName::forward) && forward_end_) open(PhaseName::other, *forward_end_);
    close(marks_.size() - 1);
    return std::move(phases_);
  }

 private:
  [[nodiscard]] bool in(PhaseName name) const { return phases_.back().name == name; }

  void take(std::size_t i) {
    switch (marks_[i].name) {
      case MarkName::forward_begin:
        if (!in(PhaseName::forward)) open(PhaseName::forward, i);
        forward_end_.reset();
        break;
      case MarkName::forward_end:
        if (in(PhaseName::forward)) forward_end_ = i;
        break;
      case MarkName::backward_begin:
        begin_backward(i);
        break;
      case MarkName::optimizer_begin:
        if (in(PhaseName::forward)) begin_backward(i);
        open(PhaseName::optimizer, i);
        break;
      case MarkName::backward_end:
        backward_end_ = i;
        break;
      case MarkName::optimizer_end:  // without a begin: a step that the script itself marks, after its backward pass
        if (!in(PhaseName::optimizer) && backward_end_) open(PhaseName::optimizer, *backward_end_);
        open(PhaseName::other, i);
        break;
      default:
        break;
    }
  }

  void begin_backward(std::size_t i) {
    if (!in(PhaseName::backward)) open(PhaseName::backward, in(PhaseName::forward) ? forward_end_.value_or(i) : i);
  }

  void open(PhaseName name, std::size_t mark) {
    close(mark);
    Phase phase;
    phase.name = name;
    phase.begin_mark = mark;
    phase.step = name == PhaseName::load ? 0 : marks_[mark].step;
    const bool has_micro_batch = name == PhaseName::forward || name == PhaseName::backward;
    phase.micro_batch = has_micro_batch ? marks_[mark].micro_batch : 0;
    phases_.push_back(phase);
    forward_end_.reset();
  }

  void close(std::size_t mark) {
    if (!phases_.empty()) phases_.back().end_mark = mark;
  }

  std::span<const Mark> marks_;
  std::vector<Phase> phases_;
  std::optional<std::size_t> forward_end_;
  std::optional<std::size_t> backward_end_;
};

void measure_exactly(Phase& phase, std::span<const timeline::Interval> intervals) {
  const std::size_t first = std::min(phase.begin_mark + 1, phase.end_mark);
  for (std::size_t i = first; i <= phase.end_mark; ++i) {
    const timeline::Interval& interval = intervals[i];
    if (i == first || interval.allocated.bytes > phase.peak_allocated) {
      phase.peak_allocated = interval.allocated.bytes;
      phase.peak_allocated_event = interval.allocated.event;
    }
    if (i == first || interval.reserved.bytes > phase.peak_reserved) {
      phase.peak_reserved = interval.reserved.bytes;
      phase.peak_reserved_event = interval.reserved.event;
    }
    phase.peak_requested = std::max(phase.peak_requested, interval.requested.bytes);
  }
  phase.peaks_exact = true;
}

// A recorder's marks have the peaks since the mark before; else PyTorch's own peak rose between two marks, so it was
// reached there.
void measure_by_counters(Phase& phase, std::span<const Mark> marks) {
  const MarkCounters* before = &marks[phase.begin_mark].counters;
  for (std::size_t i = phase.begin_mark; i <= phase.end_mark; ++i) {
    const MarkCounters& now = marks[i].counters;
    phase.peak_allocated = std::max(phase.peak_allocated, now.allocated);
    phase.peak_reserved = std::max(phase.peak_reserved, now.reserved);
    phase.peak_requested = std::max(phase.peak_requested, now.requested);
    if (now.since_known && i > phase.begin_mark) {
      phase.peak_allocated = std::max(phase.peak_allocated, now.since_allocated);
      phase.peak_reserved = std::max(phase.peak_reserved, now.since_reserved);
      phase.peak_requested = std::max(phase.peak_requested, now.since_requested);
    }
    if (!now.since_known && now.peak_allocated > before->peak_allocated)
      phase.peak_allocated = std::max(phase.peak_allocated, now.peak_allocated);
    if (!now.since_known && now.peak_reserved > before->peak_reserved)
      phase.peak_reserved = std::max(phase.peak_reserved, now.peak_reserved);
    before = &now;
  }
}

double seconds_between(std::uint64_t begin_ns, std::uint64_t end_ns) {
  return begin_ns > 0 && end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) / 1e9 : 0;
}

// One phase for each step whose end alone was marked; what comes behind the last is no step.
std::vector<Phase> split_steps(std::span<const Mark> marks) {
  std::vector<Phase> phases;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    if (marks[i].name != MarkName::step_end) continue;
    Phase& step = phases.emplace_back();
    step.step = marks[i].step;
    step.begin_mark = std::exchange(begin, i);
    step.end_mark = i;
  }
  if (!phases.empty() && begin + 1 == marks.size()) return phases;
  Phase& rest = phases.emplace_back();
  if (phases.size() > 1) rest.name = PhaseName::other;
  rest.begin_mark = begin;
  rest.end_mark = marks.size() - 1;
  return phases;
}

}  // namespace

std::string title_of(const Phase& phase) {
  const std::string step = phase.step > 0 ? "step " + std::to_string(phase.step) + " " : "";
  return step + name_of(phase.name);
}

std::vector<Phase> split_phases(std::span<const Mark> marks) {
  if (marks.empty()) return {};
  const bool optimized = std::ranges::any_of(marks, [](const Mark& mark) {
    return mark.name == MarkName::optimizer_begin || mark.name == MarkName::optimizer_end;
  });
  return optimized ? Splitter(marks).run() : split_steps(marks);
}

void measure_phases(std::span<Phase> phases, std::span<const Mark> marks, std::span<const timeline::Interval> intervals,
                    KnownBy known_by) {
  for (Phase& phase : phases) {
    const MarkCounters& end = marks[phase.end_mark].counters;
    phase.known_by = known_by;
    phase.seconds = seconds_between(marks[phase.begin_mark].counters.time_ns, end.time_ns);
    if (intervals.size() == marks.size()) {
      measure_exactly(phase, intervals);
      phase.allocated = intervals[phase.end_mark].at_end.allocated;
      phase.reserved = intervals[phase.end_mark].at_end.reserved;
    } else {
      measure_by_counters(phase, marks);
      phase.allocated = end.allocated;
      phase.reserved = end.reserved;
    }
  }
}

std::vector<Phase> split_everywhere(std::span<const Mark> marks) {
  return marks.empty() ? std::vector<Phase>() : Splitter(marks).run();
}

std::vector<PhaseSpan> spans_of(std::span<const Phase> phases, std::span<const Mark> marks,
                                std::span<const std::size_t> cuts) {
  std::vector<PhaseSpan> spans;
  for (const Phase& phase : phases) {
    std::size_t begin = phase.begin_mark;
    if (phase.name == PhaseName::backward) {
      while (begin < phase.end_mark && marks[begin].name != MarkName::backward_begin) ++begin;
      if (marks[begin].name != MarkName::backward_begin) begin = phase.begin_mark;
      if (!spans.empty()) spans.back().end = cuts[begin];
    }
    spans.push_back({phase.name, phase.step, phase.micro_batch, cuts[begin], cuts[phase.end_mark]});
  }
  if (!spans.empty()) spans.front().begin = 0;
  return spans;
}

}  // namespace ullage::ledger
