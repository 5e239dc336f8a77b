// SPDX-License-Identifier: Apache-2.0
// How the lines of a planned step come about, for people.
#pragma once

#include "lowering/lower.hpp"
#include "planner/step_plan.hpp"
#include "report/plan_view.hpp"

#include <vector>

namespace ullage::cli {

/// Of what is no state: tensors by size, and the moment when the first of their kind was there; and of the lines that
/// are no tensors.
[[nodiscard]] std::vector<report::PlanFormula> formulas_of(const lowering::Setup& setup,
                                                           const program::Program& program,
                                                           const planner::StepPlan& plan);

}  // namespace ullage::cli
