// SPDX-License-Identifier: Apache-2.0
// Where a run comes from: its name, when it began, the variables and the code it ran with.
#pragma once

#include "apps/ullage/rehearsal/attempt.hpp"
#include "report/run_result.hpp"

namespace ullage::cli {

/// To be asked before the command starts. The commit is that of the script's folder, when git knows it within a second.
[[nodiscard]] report::RunOrigin origin_of(const RehearsalOptions& options);

/// The different shapes that the model was given.
void take_input_shapes(report::RunResult& result, const Attempt& attempt);

}  // namespace ullage::cli
