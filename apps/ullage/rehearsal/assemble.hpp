// SPDX-License-Identifier: Apache-2.0
// From one or two runs to the result that is printed.
#pragma once

#include "apps/ullage/evidence/findings.hpp"
#include "apps/ullage/rehearsal/attempt.hpp"
#include "report/run_result.hpp"

namespace ullage::cli {

/// `origin` is what was known before the first run; `second` is the run in which only the charging was unlimited, or
/// null when none was needed.
[[nodiscard]] report::RunResult assemble(const RehearsalOptions& options, const report::RunOrigin& origin,
                                         const Attempt& first, const Attempt* second,
                                         const std::vector<Ignored>& ignored);

}  // namespace ullage::cli
