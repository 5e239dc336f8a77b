// SPDX-License-Identifier: Apache-2.0
// From a model and its states to what is printed.
#pragma once

#include "apps/ullage/planning/options.hpp"
#include "apps/ullage/planning/step_options.hpp"
#include "model/description.hpp"
#include "planner/states.hpp"
#include "report/plan_view.hpp"

#include <string>

namespace ullage::cli {

/// `origin`: where the configuration is from.
[[nodiscard]] report::PlanView plan_view(const PlanOptions& options, const model::Model& model,
                                         const planner::States& states, const std::string& origin);
/// The same with planned steps in place of bounds.
[[nodiscard]] report::PlanView plan_view(const PlanOptions& options, const StepOptions& step,
                                         std::vector<report::PlanPoint> points, const model::Model& model,
                                         const planner::States& states, const std::string& origin);

}  // namespace ullage::cli
