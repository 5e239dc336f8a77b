// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/ullage/rehearsal/attempt.hpp"
#include "report/run_result.hpp"

namespace ullage::cli {

/// The copies of the last step whose operators were recorded; of the whole run where no step was seen.
void take_storage_copies(report::RunResult& result, const Attempt& attempt);

}  // namespace ullage::cli
