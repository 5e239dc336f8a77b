// SPDX-License-Identifier: Apache-2.0
#include "findings/peaks.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace ullage::findings {

namespace {

using ledger::Mark;
using ledger::MarkName;

bool evaluates(const Mark& mark) {
  return mark.name == MarkName::forward_begin && (mark.training == false || mark.grad_enabled == false);
}

// A forward in evaluation mode in every step is part of the step: a frozen backbone, a reference model.
bool has_evaluation(std::span<const Mark> marks) {
  std::set<std::uint32_t> steps, evaluating;
  for (const Mark& mark : marks) {
    if (mark.name == MarkName::optimizer_end) steps.insert(mark.step);
    if (evaluates(mark)) evaluating.insert(mark.step);
  }
  return !std::ranges::includes(evaluating, steps);
}

// Walks over the marks and says in which part the interval before each lies.
class Parts {
 public:
  Parts(PartPeaks& peaks, bool evaluation) : peaks_(peaks), evaluation_(evaluation) {}

  PartPeak& before(const Mark& mark) {
    PartPeak& part = *current_;
    if (mark.name == MarkName::forward_begin)
      current_ = evaluation_ && evaluates(mark) ? &peaks_.evaluation : &peaks_.training;
    else if (mark.name == MarkName::backward_begin)
      current_ = &peaks_.training;
    else if (mark.name == MarkName::optimizer_begin)
      current_ = &peaks_.optimizer;
    else if (mark.name == MarkName::optimizer_end)
      current_ = &peaks_.between;
    return part;
  }

 private:
  PartPeaks& peaks_;
  bool evaluation_;  ///< there is one
  PartPeak* current_ = &peaks_.load;
};

}  // namespace

PartPeaks part_peaks(const Subject& subject) {
  PartPeaks peaks;
  const auto& run = subject.facts().run;
  if (!subject.has(PhaseName::optimizer) || run.history.intervals.size() != run.marks.size()) return peaks;
  Parts parts(peaks, has_evaluation(run.marks));
  for (std::size_t i = 0; i < run.marks.size(); ++i) {
    const auto& interval = run.history.intervals[i];
    PartPeak& part = parts.before(run.marks[i]);
    if (interval.allocated.bytes > part.bytes) part = {interval.allocated.bytes, interval.allocated.event};
    if (run.marks[i].name == MarkName::optimizer_end)
      peaks.after_optimizer = std::max(peaks.after_optimizer, interval.at_end.allocated);
  }
  return peaks;
}

}  // namespace ullage::findings
