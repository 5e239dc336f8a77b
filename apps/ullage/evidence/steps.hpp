// SPDX-License-Identifier: Apache-2.0
// What a run directory tells of its steps, for the findings that need no allocations.
#pragma once

#include "findings/run_steps.hpp"
#include "ingest/run_directory/run_directory.hpp"

namespace ullage::cli {

/// Of a run; of a recording of several ranks also what the others, in the folders beside it, tell of themselves. The
/// run must outlive the result and stay where it is.
[[nodiscard]] findings::RunSteps steps_of(const ingest::RunDirectory& run);

}  // namespace ullage::cli
