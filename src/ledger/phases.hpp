// SPDX-License-Identifier: Apache-2.0
// The phases of a run, from its marks. Names and borders: docs/run_directory.md, `mark`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ledger/chart.hpp"
#include "ledger/facts.hpp"
#include "timeline/intervals.hpp"

namespace ullage::ledger {

/// One phase, between two marks. Sizes are bytes.
struct Phase {
  PhaseName name = PhaseName::run;
  std::uint32_t step = 0;         ///< 0 in `load` and `run`
  std::uint32_t micro_batch = 0;  ///< of `forward` and `backward`, else 0
  std::size_t begin_mark = 0;     ///< positions in the list of marks
  std::size_t end_mark = 0;
  std::uint64_t allocated = 0;  ///< at the end
  std::uint64_t reserved = 0;
  std::uint64_t peak_allocated = 0;  ///< within
  std::uint64_t peak_reserved = 0;
  std::uint64_t peak_requested = 0;
  std::uint64_t peak_allocated_event = 0;  ///< index in the Timeline; only when peaks_exact
  std::uint64_t peak_reserved_event = 0;
  double seconds = 0;        ///< between its marks, on the host's clock; 0: the marks have no time
  bool peaks_exact = false;  ///< from the replayed history; false: lower bounds from the marks' own counters
  KnownBy known_by = KnownBy::measured;
};

/// "step 2 backward"; the name alone outside steps.
std::string title_of(const Phase& phase);

/// The phases without sizes. Borders: `load` from the first mark to the first forward; `forward` to the last
/// forward_end before a backward or an optimizer step; `backward` from there to the optimizer step or the next micro
/// batch; `other` between an optimizer step and the next forward, and after the last forward that had neither. Without
/// an optimizer step the one phase `run`, or one for each step whose end was marked. No marks, no phases.
std::vector<Phase> split_phases(std::span<const Mark> marks);

/// The same, but without an optimizer step too: where a run only goes forward, or forward and back.
std::vector<Phase> split_everywhere(std::span<const Mark> marks);

/// Fills in the sizes. `intervals[i]` ends at mark i (timeline::intervals at the marks' places); empty when the history
/// could not be joined: then ends are the marks' own counters and peaks are the largest value they prove.
void measure_phases(std::span<Phase> phases, std::span<const Mark> marks, std::span<const timeline::Interval> intervals,
                    KnownBy known_by);

/// The phases as the attribution wants them. `cuts[i]` is the place of mark i in the timeline's events.
std::vector<PhaseSpan> spans_of(std::span<const Phase> phases, std::span<const Mark> marks,
                                std::span<const std::size_t> cuts);

}  // namespace ullage::ledger
