// SPDX-License-Identifier: Apache-2.0
// All rows of the answer: the GPUs and lengths of a table, or what --fit finds.
#pragma once

#include "apps/ullage/planning/described.hpp"
#include "apps/ullage/planning/step_options.hpp"
#include "report/plan_view.hpp"

#include <vector>

namespace ullage::cli {

/// Every GPU with every sequence length and micro batch; with --fit what each GPU has room for. What cannot be planned
/// of one point stands in it; an error only where no point can be planned.
[[nodiscard]] Result<std::vector<report::PlanPoint>> step_points(const PlanOptions& options, const StepOptions& step,
                                                                 const Described& found);

}  // namespace ullage::cli
