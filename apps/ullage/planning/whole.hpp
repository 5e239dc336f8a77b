// SPDX-License-Identifier: Apache-2.0
// A whole plan, from a model and flags to what is printed.
#pragma once

#include "apps/ullage/planning/options.hpp"
#include "model/description.hpp"
#include "report/plan_view.hpp"

#include <string>

namespace ullage::cli {

/// A model and where it is from.
struct DescribedModel {
  model::Model model;
  std::string origin;
};

/// States alone, or whole steps, as the flags of `ullage plan` say. Errors: those of the flags and of the lowering.
[[nodiscard]] Result<report::PlanView> whole_plan(const Arguments& arguments, const PlanOptions& options,
                                                  const DescribedModel& found);

}  // namespace ullage::cli
