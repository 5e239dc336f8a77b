// SPDX-License-Identifier: Apache-2.0
// What the run directory tells beside memory: steps, copies, synchronisations, unknown reads, stubs, out-of-memory
// events.
#pragma once

#include "apps/ullage/rehearsal/attempt.hpp"
#include "report/run_result.hpp"

namespace ullage::cli {

/// Copies and synchronisations are those of the last step: from the end of the step before it to its own end.
void take_observations(report::RunResult& result, const Attempt& attempt);

/// The OutOfMemoryErrors of the run; all but the last of a run that `ended` by one were caught.
void take_out_of_memory(report::RunResult& result, const Attempt& attempt, bool ended);

}  // namespace ullage::cli
