// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/one_step.hpp"

#include "apps/ullage/command.hpp"
#include "apps/ullage/planning/described.hpp"
#include "apps/ullage/planning/points.hpp"
#include "apps/ullage/planning/step_options.hpp"

#include <optional>

namespace ullage::cli {

namespace {

/// One plan; the model is described where it is not yet.
Result<report::PlanPoint> plan_one(const std::vector<std::string>& words, std::optional<Described>& model) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  const auto arguments = parse_arguments(plan_command.shape, views);
  if (!arguments) return tl::unexpected(arguments.error());
  const auto options = plan_options(*arguments);
  if (!options) return tl::unexpected(options.error());
  if (!model) {
    auto found = described(*options);
    if (!found) return tl::unexpected(found.error());
    model = std::move(*found);
  }
  const auto step = step_options(*arguments, *options, model->model);
  if (!step) return tl::unexpected(step.error());
  if (!*step) return fail(ErrorKind::usage, "no step was asked for", {}, "--seq N as well");
  return step_points(*options, **step, *model).map([](const auto& points) { return points.front(); });
}

}  // namespace

Result<std::vector<report::PlanPoint>> plan_steps(const std::vector<std::vector<std::string>>& plans) {
  std::optional<Described> model;
  std::vector<report::PlanPoint> points;
  for (const std::vector<std::string>& words : plans) {
    auto point = plan_one(words, model);
    if (!point) return tl::unexpected(point.error());
    points.push_back(std::move(*point));
  }
  return points;
}

}  // namespace ullage::cli
