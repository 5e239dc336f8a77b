// SPDX-License-Identifier: Apache-2.0
// A step planned by the words that `ullage plan` would be given, for other commands.
#pragma once

#include "base/result.hpp"
#include "report/plan_view.hpp"

#include <string>
#include <vector>

namespace ullage::cli {

/// The first point of the plan. Errors: those of `ullage plan`; `usage` where the words ask for states alone.
[[nodiscard]] Result<report::PlanPoint> plan_one_step(const std::vector<std::string>& words);

}  // namespace ullage::cli
