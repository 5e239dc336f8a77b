// SPDX-License-Identifier: Apache-2.0
// A whole plan, from a model and flags to what is printed.
#pragma once

#include "apps/ullage/planning/described.hpp"
#include "apps/ullage/planning/options.hpp"
#include "report/plan_view.hpp"

namespace ullage::cli {

/// States alone, or whole steps, as the flags of `ullage plan` say. Errors: those of the flags and of the lowering.
[[nodiscard]] Result<report::PlanView> whole_plan(const Arguments& arguments, const PlanOptions& options,
                                                  const Described& found);

}  // namespace ullage::cli
