// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/one_step.hpp"

#include "apps/ullage/command.hpp"
#include "apps/ullage/planning/described.hpp"
#include "apps/ullage/planning/step.hpp"

namespace ullage::cli {

Result<report::PlanPoint> plan_one_step(const std::vector<std::string>& words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  const auto arguments = parse_arguments(plan_command.shape, views);
  if (!arguments) return tl::unexpected(arguments.error());
  const auto options = plan_options(*arguments);
  if (!options) return tl::unexpected(options.error());
  const auto found = described(*options);
  if (!found) return tl::unexpected(found.error());
  const auto step = step_options(*arguments, *options, found->model);
  if (!step) return tl::unexpected(step.error());
  if (!*step) return fail(ErrorKind::usage, "no step was asked for", {}, "--seq N as well");
  return step_points(*options, **step, found->model).map([](const auto& points) { return points.front(); });
}

}  // namespace ullage::cli
