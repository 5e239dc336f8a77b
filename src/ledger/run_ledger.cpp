// SPDX-License-Identifier: Apache-2.0
#include "ledger/run_ledger.hpp"

#include <algorithm>
#include <utility>

#include "attribution/places.hpp"
#include "attribution/run_labels.hpp"
#include "ledger/owners.hpp"

namespace ullage::ledger {

namespace {

bool joined(const RunInput& input) {
  return input.history.timeline != nullptr && input.history.initial != nullptr &&
         input.history.cuts.size() == input.marks.size() && input.history.intervals.size() == input.marks.size();
}

Line leaf(std::string id, std::string name, std::uint64_t bytes, KnownBy known_by,
          AttributedBy attributed_by = AttributedBy::nothing) {
  return {std::move(id), std::move(name), bytes, known_by, attributed_by, {}, 0};
}

Line parameter_line(const OwnedBytes& owned, KnownBy known_by) {
  if (owned.buffers == 0) return leaf("parameters", "parameters", owned.parameters, known_by, AttributedBy::named);
  std::vector<Line> children;
  children.push_back(leaf("parameters.weights", "weights", owned.parameters, known_by, AttributedBy::named));
  children.push_back(leaf("parameters.buffers", "buffers", owned.buffers, known_by, AttributedBy::named));
  Line line = sum_line("parameters", "parameters", known_by, std::move(children));
  line.attributed_by = AttributedBy::named;
  return line;
}

Line state_line(const OwnedBytes& owned, KnownBy known_by) {
  std::vector<Line> children;
  for (const auto& [state, bytes] : owned.optimizer_state) {
    children.push_back(leaf("optimizer_state." + state, state, bytes, known_by, AttributedBy::named));
  }
  Line line = sum_line("optimizer_state", "optimizer state", known_by, std::move(children));
  line.attributed_by = AttributedBy::named;
  return line;
}

Line reserved_line(const OwnedBytes& owned, std::uint64_t allocated, std::uint64_t reserved, KnownBy known_by) {
  std::vector<Line> lines;
  lines.push_back(parameter_line(owned, known_by));
  lines.push_back(leaf("gradients", "gradients", owned.gradients, known_by, AttributedBy::named));
  lines.push_back(state_line(owned, known_by));
  lines.push_back(leaf("unattributed", "[unattributed]", allocated - owned.total(), known_by));
  lines.push_back(leaf("cached", "cached, not allocated", reserved - allocated, known_by));
  return sum_line("reserved", "PyTorch reserved", known_by, std::move(lines));
}

// The chart at one mark, without a history.
Line chart_at_mark(const RunInput& input, std::size_t mark) {
  const MarkCounters& counters = input.marks[mark].counters;
  const std::uint64_t reserved = std::max(counters.reserved, counters.allocated);
  const OwnedBytes owned = owned_by_sizes(input.lists, mark, counters.allocated);
  const std::uint64_t device = mark < input.device_bytes.size() ? input.device_bytes[mark] : 0;
  std::vector<Line> lines;
  const bool apart = input.context_bytes > 0 || input.known_by != KnownBy::measured;  // on a real device it is not
  if (apart)
    lines.push_back(leaf("context", "CUDA context and loaded modules", input.context_bytes, KnownBy::estimated));
  lines.push_back(reserved_line(owned, counters.allocated, reserved, input.known_by));
  lines.push_back(leaf("outside_pytorch", apart ? "outside PyTorch" : "outside PyTorch, the CUDA context included",
                       device > reserved ? device - reserved : 0, input.known_by));
  return sum_line("used", "used on the device", input.known_by, std::move(lines));
}

// What other libraries held at the mark that follows.
std::uint64_t outside_at(const RunInput& input, std::size_t events) {
  const auto after = std::ranges::lower_bound(input.history.cuts, events);
  const auto mark = static_cast<std::size_t>(after - input.history.cuts.begin());
  if (mark >= input.device_bytes.size() || mark >= input.history.intervals.size()) return 0;
  const std::uint64_t reserved = input.history.intervals[mark].at_end.reserved;
  return input.device_bytes[mark] > reserved ? input.device_bytes[mark] - reserved : 0;
}

std::uint64_t used_peak(const RunInput& input, std::uint64_t reserved_peak) {
  return input.context_bytes + std::max(input.device_peak_bytes, reserved_peak);
}

template <class Projection>
std::size_t highest(const std::vector<Phase>& phases, Projection projection) {
  return static_cast<std::size_t>(std::ranges::max_element(phases, {}, projection) - phases.begin());
}

RunPeak peak_of(const RunInput& input, const RunLedger& ledger) {
  const Phase& where = ledger.phases[ledger.allocated_peak_phase];
  RunPeak peak;
  peak.allocated = where.peak_allocated;
  peak.reserved = ledger.phases[ledger.reserved_peak_phase].peak_reserved;
  for (const Phase& phase : ledger.phases) peak.requested = std::max(peak.requested, phase.peak_requested);
  peak.used = used_peak(input, peak.reserved);
  peak.step = where.step;
  peak.micro_batch = where.micro_batch;
  peak.phase = where.name;
  return peak;
}

}  // namespace

Cut cut_at(const RunInput& input, const Account& account, std::size_t events) {
  timeline::BlockReplay replay(*input.history.timeline, *input.history.initial);
  replay.advance_to(events);
  Cut cut;
  cut.timeline = input.history.timeline;
  cut.allocations = &account.allocations;
  cut.labels = &account.labels;
  cut.events = events;
  cut.reserved = replay.now().reserved;
  cut.whole_device = true;
  cut.outside = outside_at(input, events);
  cut.context = input.context_bytes;
  cut.known_by = input.known_by;
  return cut;
}

Line states_line(const OwnedBytes& owned, KnownBy known_by) {
  return sum_line("states", "states", known_by, {parameter_line(owned, known_by), state_line(owned, known_by)});
}

std::optional<Account> make_account(const RunInput& input) {
  if (!joined(input)) return std::nullopt;
  Account account;
  account.allocations = timeline::allocations(*input.history.timeline, *input.history.initial);
  const std::vector<Phase> phases = split_everywhere(input.marks);
  const std::vector<PhaseSpan> spans = spans_of(phases, input.marks, input.history.cuts);
  attribution::RunEvidence evidence;
  evidence.timeline = input.history.timeline;
  evidence.allocations = &account.allocations;
  evidence.phases = spans;
  evidence.lists = input.lists;
  evidence.cuts = input.history.cuts;
  if (input.trace != nullptr) {
    account.calls = attribution::calls_of(account.allocations, *input.history.timeline, *input.trace);
    evidence.trace = input.trace;
    evidence.calls = account.calls;
  }
  account.labels = attribution::label_run(evidence);
  return account;
}

std::optional<std::size_t> events_at(const RunInput& input, const RunLedger& ledger, Moment moment, std::size_t phase) {
  if (!ledger.exact) return std::nullopt;
  switch (moment) {
    case Moment::allocated_peak:
      return ledger.phases[ledger.allocated_peak_phase].peak_allocated_event + 1;
    case Moment::reserved_peak:
      return ledger.phases[ledger.reserved_peak_phase].peak_reserved_event + 1;
    case Moment::out_of_memory:
      return timeline::last_out_of_memory(*input.history.timeline);
    case Moment::phase_end:
      return input.history.cuts[ledger.phases[phase].end_mark];
  }
  return std::nullopt;
}

std::optional<RunLedger> build(const RunInput& input, const Account* account) {
  if (input.marks.empty()) return std::nullopt;
  RunLedger ledger;
  ledger.exact = joined(input);
  ledger.phases = split_phases(input.marks);
  const auto intervals = ledger.exact ? input.history.intervals : std::span<const timeline::Interval>{};
  measure_phases(ledger.phases, input.marks, intervals, input.known_by);
  ledger.allocated_peak_phase = highest(ledger.phases, &Phase::peak_allocated);
  ledger.reserved_peak_phase = highest(ledger.phases, &Phase::peak_reserved);
  ledger.peak = peak_of(input, ledger);
  if (const auto events = events_at(input, ledger, Moment::allocated_peak); events && account != nullptr) {
    constexpr Level levels[] = {Level::kind};
    ledger.used = chart(cut_at(input, *account, *events), levels);
    return ledger;
  }
  const Phase& where = ledger.phases[ledger.allocated_peak_phase];
  ledger.below_peak = where.peak_allocated - std::min(where.peak_allocated, where.allocated);
  ledger.used = chart_at_mark(input, where.end_mark);
  return ledger;
}

}  // namespace ullage::ledger
