// SPDX-License-Identifier: Apache-2.0
// How long the steps of a recording took, and how many tokens they had.
#pragma once

#include "ingest/run_directory/run_facts.hpp"
#include "report/run_result.hpp"

#include <cstdint>
#include <map>

namespace ullage::cli {

/// The number of the step that ends at a mark; 0 for other marks.
[[nodiscard]] std::uint32_t ended_step(const ledger::Mark& mark);

/// Seconds of each step that counts, by its number. It lasts from the end of the one before to its own end; steps that
/// the recorder or a profiler slowed down do not count, nor the first, which has no beginning.
[[nodiscard]] std::map<std::uint32_t, double> step_durations(const ingest::RunFacts& facts);

/// Fills in `times` and `throughput`, of the steps that count.
void take_times(report::RunResult& result, const ingest::RunFacts& facts);

}  // namespace ullage::cli
