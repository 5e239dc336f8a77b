// SPDX-License-Identifier: Apache-2.0
// Finds the places of a run's marks in the allocator's history. Rule: docs/run_directory.md, `mark`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingest/run_directory/run_facts.hpp"
#include "timeline/intervals.hpp"

namespace ullage::ingest {

struct Join {
  bool joined = false;
  std::string why_not;                        ///< when not joined
  std::vector<std::size_t> cuts;              ///< cuts[i]: how many events stand before mark i
  std::vector<timeline::Interval> intervals;  ///< intervals[i] ends at mark i
  timeline::InitialState initial;
  timeline::ReplayEvidence evidence;
  std::uint64_t mismatches = 0;       ///< marks at which the replay's allocated or reserved differ from PyTorch's own
  std::vector<std::string> examples;  ///< the first eight of them
};

/// Joins. A mark stands after as many alloc and free_requested events as its counters say (less those of the history's
/// start), and after the completed frees and given-back segments that follow at once and that its own counters include.
/// Not joined when the history is missing, lost its beginning, or does not reach the marks.
Join join_marks(const timeline::Timeline& timeline, std::span<const ledger::Mark> marks,
                const std::optional<HistoryStart>& history);

}  // namespace ullage::ingest
