// SPDX-License-Identifier: Apache-2.0
// Host memory of the command, and how its steps got their data.
#pragma once

#include "apps/ullage/rehearsal/attempt.hpp"
#include "report/run_result.hpp"

namespace ullage::cli {

/// Memory of all processes, less what the virtual GPU takes itself, against --host-memory or this machine's.
void take_host_memory(report::RunResult& result, const RehearsalOptions& options, const Attempt& attempt);

/// Per step: batches of DataLoaders with the time waited for them, and copies from host to device.
void take_inputs(report::RunResult& result, const Attempt& attempt);

}  // namespace ullage::cli
