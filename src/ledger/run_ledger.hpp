// SPDX-License-Identifier: Apache-2.0
// The ledger of one run on one device: its phases, its peaks, and the chart of accounts at the moment at which
// allocated memory was highest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ledger/breakdown.hpp"
#include "ledger/chart.hpp"
#include "ledger/facts.hpp"
#include "ledger/phases.hpp"
#include "timeline/intervals.hpp"
#include "timeline/trace.hpp"

namespace ullage::ledger {

/// The history of the run joined with its marks: `cuts[i]` is the place of mark i in the timeline's events,
/// `intervals[i]` ends there. Empty spans when there is no such history.
struct History {
  const timeline::Timeline* timeline = nullptr;
  const timeline::InitialState* initial = nullptr;
  std::span<const std::size_t> cuts;
  std::span<const timeline::Interval> intervals;
};

struct RunInput {
  std::span<const Mark> marks;
  std::span<const TensorList> lists;
  History history;
  const timeline::Trace* trace = nullptr;  ///< which operators ran; null when not recorded
  KnownBy known_by = KnownBy::measured;
  std::uint64_t context_bytes = 0;
  std::span<const std::uint64_t>
      device_bytes;                     ///< charged on the device at each mark, context not included; may be empty
  std::uint64_t device_peak_bytes = 0;  ///< the peak of the same; 0 when not known
};

/// The highest values of the run. `step`, `micro_batch` and `phase` are where allocated was highest.
struct RunPeak {
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
  std::uint64_t requested = 0;
  std::uint64_t used = 0;  ///< context + device memory of all libraries
  std::uint32_t step = 0;
  std::uint32_t micro_batch = 0;
  PhaseName phase = PhaseName::run;
};

struct RunLedger {
  std::vector<Phase> phases;
  RunPeak peak;
  std::size_t allocated_peak_phase = 0;  ///< positions in `phases`; they may differ
  std::size_t reserved_peak_phase = 0;
  bool exact = false;            ///< peaks and block sizes come from the replayed history
  Line used;                     ///< the chart of accounts at the peak of allocated; else at the end of that phase
  std::uint64_t below_peak = 0;  ///< how far allocated there lies below the peak: 0 when exact
};

/// Every allocation of a run with its owner; what charts at any moment are made of.
struct Account {
  timeline::Allocations allocations;
  attribution::Labels labels;
  std::vector<timeline::CallId> calls;  ///< the innermost call around each allocation; empty without a trace
};

/// Nothing when there are no marks. Deterministic; the tree always passes check(). With `account` (of the same input)
/// the chart is exact; without one, or without a history, it has what the marks and the named tensors say.
std::optional<RunLedger> build(const RunInput& input, const Account* account = nullptr);

/// Nothing when there is no joined history.
std::optional<Account> make_account(const RunInput& input);

/// The moment after `events` events of a joined history. The input and the account must outlive it.
Cut cut_at(const RunInput& input, const Account& account, std::size_t events);

/// Where a chart can be made.
enum class Moment : std::uint8_t { allocated_peak, reserved_peak, out_of_memory, phase_end };

/// The events before a moment. `phase` is a position in `phases`, for phase_end. Nothing where the history does not
/// know it: the run had no OutOfMemoryError.
std::optional<std::size_t> events_at(const RunInput& input, const RunLedger& ledger, Moment moment,
                                     std::size_t phase = 0);

}  // namespace ullage::ledger
