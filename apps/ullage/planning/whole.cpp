// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/whole.hpp"

#include "apps/ullage/planning/beside.hpp"
#include "apps/ullage/planning/points.hpp"
#include "apps/ullage/planning/step_options.hpp"
#include "apps/ullage/planning/view.hpp"

#include <algorithm>

namespace ullage::cli {
namespace {

/// The model that is shown: with --fit seq one with positions for the length that was found.
Result<model::Model> model_shown(const PlanOptions& options, const StepOptions& step, const Described& found,
                                 const report::PlanPoint& point) {
  if (step.fit != FitOf::sequence || options.gpus.size() > 1) return found.model;
  return with_sequence(options, found, point.step->fit_value.value_or(0));
}

/// The states whose formulas are shown: with --fit world those of as many ranks as were found.
Result<planner::States> states_shown(const PlanOptions& options, const StepOptions& step, const model::Model& model,
                                     const report::PlanPoint& point, const planner::States& states) {
  if (step.fit == FitOf::sequence) return planner::states_of(model, options.training);
  if (step.fit != FitOf::world || options.gpus.size() > 1) return states;
  planner::Training training = options.training;
  training.ranks = std::max<std::uint64_t>(point.step->fit_value.value_or(1), 1);
  return planner::states_of(model, training);
}

}  // namespace

Result<report::PlanView> whole_plan(const Arguments& arguments, const PlanOptions& options, const Described& found) {
  const auto states = planner::states_of(found.model, options.training);
  if (!states) return tl::unexpected(states.error());
  const auto step = step_options(arguments, options, found.model);
  if (!step) return tl::unexpected(step.error());
  if (!*step) return plan_view(options, found.model, *states, found.origin);
  auto points = step_points(options, **step, found);
  if (!points) return tl::unexpected(points.error());
  const auto model = model_shown(options, **step, found, points->front());
  if (!model) return tl::unexpected(model.error());
  const auto shares = states_shown(options, **step, *model, points->front(), *states);
  if (!shares) return tl::unexpected(shares.error());
  report::PlanView view = plan_view(options, **step, std::move(*points), *model, *shares, found.origin);
  if (arguments.given("compare-rules")) view.rules = rules_of(**step, found.model, *shares, view.points.front());
  if (!arguments.given("what-if")) return view;
  return changes_of(options, **step, found.model, view.points.front())
      .map([&](std::vector<report::PlanChange> changes) {
        view.changes = std::move(changes);
        return view;
      });
}

}  // namespace ullage::cli
