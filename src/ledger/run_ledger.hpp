// SPDX-License-Identifier: Apache-2.0
// The ledger of one run on one device: its phases, its peaks, and the chart of accounts at the end of the phase in
// which the peak of allocated memory lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ledger/chart.hpp"
#include "ledger/facts.hpp"
#include "ledger/phases.hpp"
#include "timeline/intervals.hpp"

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
  Line used;                       ///< the chart of accounts at the end of phases[allocated_peak_phase]
  std::uint64_t below_peak = 0;    ///< how far allocated at that end lies below the peak
  std::uint64_t tensors_gone = 0;  ///< named tensors whose storage no longer lived there
  bool exact = false;              ///< peaks and block sizes come from the replayed history
};

/// Nothing when there are no marks. Deterministic; the tree always passes check().
std::optional<RunLedger> build(const RunInput& input);

/// The chart of accounts at one mark.
Line chart_at(const RunInput& input, std::size_t mark, std::uint64_t* tensors_gone = nullptr);

}  // namespace ullage::ledger
