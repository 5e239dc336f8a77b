// SPDX-License-Identifier: Apache-2.0
// What is put beside a planned step: single changes to it, and the popular closed forms.
#pragma once

#include "apps/ullage/planning/step_options.hpp"
#include "report/plan_view.hpp"

#include <vector>

namespace ullage::cli {

/// Single changes to one planned point, the one that saves most first: checkpointing, attention, precision, optimizer,
/// half the micro batch with twice the accumulation, half the sequence.
[[nodiscard]] Result<std::vector<report::PlanChange>> changes_of(const PlanOptions& options, const StepOptions& step,
                                                                 const model::Model& model,
                                                                 const report::PlanPoint& point);

/// The popular closed forms for one planned point of a training with these states.
[[nodiscard]] std::vector<report::PlanRule> rules_of(const StepOptions& step, const model::Model& model,
                                                     const planner::States& states, const report::PlanPoint& point);

}  // namespace ullage::cli
