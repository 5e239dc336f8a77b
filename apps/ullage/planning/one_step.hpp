// SPDX-License-Identifier: Apache-2.0
// Steps planned by the words that `ullage plan` would be given, for other commands.
#pragma once

#include "base/result.hpp"
#include "report/plan_view.hpp"

#include <string>
#include <vector>

namespace ullage::cli {

/// The first point of each plan. All are of the model that the first names, which is looked for once. Errors: those of
/// `ullage plan`; `usage` where the words ask for states alone.
[[nodiscard]] Result<std::vector<report::PlanPoint>> plan_steps(const std::vector<std::vector<std::string>>& plans);

}  // namespace ullage::cli
