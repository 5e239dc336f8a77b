// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/whole.hpp"

#include "apps/ullage/planning/step.hpp"
#include "apps/ullage/planning/view.hpp"

namespace ullage::cli {

Result<report::PlanView> whole_plan(const Arguments& arguments, const PlanOptions& options,
                                    const DescribedModel& found) {
  const auto states = planner::states_of(found.model, options.training);
  if (!states) return tl::unexpected(states.error());
  const auto step = step_options(arguments, options, found.model);
  if (!step) return tl::unexpected(step.error());
  if (!*step) return plan_view(options, found.model, *states, found.origin);
  auto points = step_points(options, **step, found.model);
  if (!points) return tl::unexpected(points.error());
  report::PlanView view = plan_view(options, **step, std::move(*points), found.model, *states, found.origin);
  if (arguments.given("compare-rules")) view.rules = rules_of(**step, found.model, view.points.front());
  if (!arguments.given("what-if")) return view;
  return changes_of(options, **step, found.model, view.points.front())
      .map([&](std::vector<report::PlanChange> changes) {
        view.changes = std::move(changes);
        return view;
      });
}

}  // namespace ullage::cli
