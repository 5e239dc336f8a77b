// SPDX-License-Identifier: Apache-2.0
// How long the steps of a recording took, and how many tokens they had.
#pragma once

#include "ingest/run_directory/run_facts.hpp"
#include "report/run_result.hpp"

namespace ullage::cli {

/// The number of the step that ends at a mark; 0 for other marks.
[[nodiscard]] std::uint32_t ended_step(const ledger::Mark& mark);

/// Fills in `times` and `throughput`. A step lasts from the end of the one before to its own end; those that the
/// recorder or a profiler slowed down are left out: where tensors were named (the first steps), and what the record
/// says.
void take_times(report::RunResult& result, const ingest::RunFacts& facts);

}  // namespace ullage::cli
