// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/recording.hpp"

#include <algorithm>
#include <utility>

#include "ledger/phases.hpp"

namespace ullage::ingest {

namespace {

// The same boundary of the last step before that has lists.
std::optional<std::size_t> like_it(const RunFacts& facts, std::size_t mark) {
  const ledger::Mark& wanted = facts.marks[mark];
  std::optional<std::size_t> found;
  std::uint32_t last_step = 0;
  for (const auto& list : facts.lists)
    if (list.mark < mark) last_step = std::max(last_step, facts.marks[list.mark].step);
  for (std::size_t i = 0; i < mark && facts.marks[i].step <= last_step; ++i)
    if (facts.marks[i].name == wanted.name && facts.marks[i].micro_batch == wanted.micro_batch) found = i;
  return found;
}

// All that is named at a mark, as one complete list.
ledger::TensorList state_at(const std::vector<ledger::TensorList>& lists, std::size_t mark) {
  ledger::TensorList state;
  for (std::size_t c = 0; c < ledger::tensor_classes; ++c) {
    state.complete[c] = true;
    std::vector<ledger::Tensor> tensors;
    for (const auto& list : lists) {
      if (list.mark > mark) break;
      if (list.complete[c]) tensors.clear();
      for (const auto& tensor : list.tensors)
        if (static_cast<std::size_t>(tensor.tensor_class) == c) tensors.push_back(tensor);
    }
    std::ranges::move(tensors, std::back_inserter(state.tensors));
  }
  return state;
}

std::optional<std::size_t> end_of_highest_phase(const RunFacts& facts) {
  auto phases = ledger::split_phases(facts.marks);
  if (phases.empty()) return std::nullopt;
  ledger::measure_phases(phases, facts.marks, {}, ledger::KnownBy::measured);
  return std::ranges::max_element(phases, {}, &ledger::Phase::peak_allocated)->end_mark;
}

void name_tensors_at(RunFacts& facts, std::size_t mark) {
  if (facts.lists.empty() || facts.marks[mark].name == ledger::MarkName::run_end) return;
  const bool listed = std::ranges::any_of(facts.lists, [&](const auto& list) {
    return list.mark <= mark && facts.marks[list.mark].step == facts.marks[mark].step;
  });
  const auto source = like_it(facts, mark);
  if (listed || !source) return;
  ledger::TensorList state = state_at(facts.lists, *source);
  state.mark = mark;
  const auto place = std::ranges::upper_bound(facts.lists, mark, {}, &ledger::TensorList::mark);
  facts.lists.insert(place, std::move(state));
}

// The lists of marks first ... last - 1, the state before as the first of them.
std::vector<ledger::TensorList> lists_of(const RunFacts& facts, std::size_t first, std::size_t last) {
  std::vector<ledger::TensorList> lists;
  if (!facts.lists.empty()) lists.push_back(state_at(facts.lists, first));
  for (const auto& list : facts.lists) {
    if (list.mark <= first || list.mark >= last) continue;
    lists.push_back(list);
    lists.back().mark -= first;
  }
  return lists;
}

}  // namespace

void cut_to_history(RunDirectory& run) {
  if (!run.facts.history) return;
  const std::size_t count = run.facts.marks.size();
  const std::size_t first = std::min(run.facts.history->marks_before, count) - (run.facts.history->marks_before > 0);
  const std::size_t last = std::min(run.facts.history->marks_until.value_or(count), count);
  if (first >= last) return;
  run.whole = run.facts;
  run.facts.lists = lists_of(*run.whole, first, last);
  const auto begin = run.whole->marks.begin();
  run.facts.marks.assign(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last));
}

void leave_uncut(RunDirectory& run) {
  if (run.whole) run.facts = std::move(*run.whole);
  run.whole.reset();
  if (run.facts.history)
    run.notes.push_back("the memory history is not joined with the marks: " + run.join.why_not);
  else
    run.notes.push_back(
        "snapshot.pickle is of the moment of an OutOfMemoryError, without a history: "
        "ullage explain " +
        run.path + "/snapshot.pickle shows it");
}

std::uint64_t outside_pytorch(const std::vector<Sample>& samples) {
  std::uint64_t most = 0;
  for (const Sample& sample : samples) {
    const std::uint64_t used = sample.process_used_bytes > 0 ? sample.process_used_bytes : sample.device_used_bytes;
    if (sample.reserved_bytes > 0) most = std::max(most, used - std::min(used, sample.reserved_bytes));
  }
  return most;
}

void complete_recording(RunDirectory& run) {
  RunFacts& facts = run.facts;
  for (const auto& mark : run.whole_facts().marks)
    run.device_peak_bytes = std::max({run.device_peak_bytes, mark.counters.reserved, mark.counters.since_reserved});
  if (const std::uint64_t outside = outside_pytorch(facts.samples); outside > 0) {
    for (const auto& mark : facts.marks) run.device_bytes.push_back(mark.counters.reserved + outside);
    run.device_peak_bytes += outside;
  }
  if (run.join.joined) return;
  if (const auto mark = end_of_highest_phase(facts)) name_tensors_at(facts, *mark);
}

}  // namespace ullage::ingest
