// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/points.hpp"

#include "apps/ullage/device.hpp"
#include "apps/ullage/planning/fit.hpp"
#include "apps/ullage/planning/point.hpp"
#include "apps/ullage/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

using lowering::Setup;
using report::PlanPoint;

/// A point that cannot be planned, with the reason.
PlanPoint refused_point(const PlanOptions& options, const Gpu& gpu, const Setup& setup, const Error& error) {
  PlanPoint point;
  point.device = device_info(gpu, options.memory_bytes.value_or(gpu.capacity_bytes()));
  point.step = report::PlanStep{};
  point.step->micro_batch = static_cast<std::uint64_t>(setup.micro_batch);
  point.step->sequence = static_cast<std::uint64_t>(setup.sequence);
  point.step->refused = error.where.empty() ? error.what : fmt::format("{}: {}", error.what, error.where);
  return point;
}

/// The setups of a table, those of a sequence length after one another.
std::vector<Setup> setups_of(const PlanOptions& options, const StepOptions& step) {
  std::vector<Setup> setups;
  for (const std::uint64_t sequence : step.sequences)
    for (const std::uint64_t micro_batch : step.micro_batches) {
      Setup& setup = setups.emplace_back(step.setup);
      setup.accumulate = *accumulation_of(options, step, micro_batch);
      setup.micro_batch = static_cast<std::int64_t>(micro_batch);
      setup.sequence = static_cast<std::int64_t>(sequence);
    }
  return setups;
}

/// One setup on all GPUs, in their order. GPUs of the same program share it: it is lowered, and run without a limit,
/// once for all of them.
std::vector<Result<PlanPoint>> on_all_gpus(const PlanOptions& options, const Setup& setup, const model::Model& model,
                                           const std::function<void(const Gpu&)>& begins) {
  std::vector<std::optional<Result<PlanPoint>>> points(options.gpus.size());
  for (std::size_t first = 0; first < points.size(); ++first) {
    if (points[first]) continue;
    begins(*options.gpus[first]);
    const auto made = lowered(setup, model, *options.gpus[first]).and_then([&](Lowered&& whole) {
      return planned(options, setup, std::move(whole));
    });
    points[first] =
        made.map([&](const Planned& of) { return point_of(options, setup, model, *options.gpus[first], of); });
    for (std::size_t i = first + 1; made && i < points.size(); ++i)
      if (!points[i] && made->of.serves(*options.gpus[i])) {
        begins(*options.gpus[i]);
        points[i] = point_of(options, setup, model, *options.gpus[i], *made);
      }
  }
  std::vector<Result<PlanPoint>> all;
  for (auto& point : points) all.push_back(std::move(*point));
  return all;
}

/// By setup, then by GPU.
using Grid = std::vector<std::vector<Result<PlanPoint>>>;

Grid grid_of(const PlanOptions& options, const std::vector<Setup>& setups, const model::Model& model) {
  Progress progress;
  std::size_t begun = 0;
  Grid grid;
  for (const Setup& setup : setups)
    grid.push_back(on_all_gpus(options, setup, model, [&](const Gpu& gpu) {
      progress.say(fmt::format("planning {} of {}: {}, micro batch {}, sequence {}", ++begun,
                               setups.size() * options.gpus.size(), gpu.short_name, setup.micro_batch, setup.sequence));
    }));
  return grid;
}

/// What --fit finds on each GPU.
Grid fits_of(const PlanOptions& options, const StepOptions& step, const Described& found) {
  FitSearch search(options, step, found);
  Grid grid(1);
  for (const Gpu* gpu : options.gpus) grid.front().push_back(search.on(*gpu));
  return grid;
}

}  // namespace

Result<std::vector<PlanPoint>> step_points(const PlanOptions& options, const StepOptions& step,
                                           const Described& found) {
  const std::vector<Setup> setups = step.fit ? std::vector{step.setup} : setups_of(options, step);
  Grid grid = step.fit ? fits_of(options, step, found) : grid_of(options, setups, found.model);
  std::vector<PlanPoint> points;
  std::optional<Error> error;
  bool any = false;
  for (std::size_t gpu = 0; gpu < options.gpus.size(); ++gpu)
    for (std::size_t i = 0; i < setups.size(); ++i) {
      Result<PlanPoint>& point = grid[i][gpu];
      any = any || point;
      if (!point && !error) error = point.error();
      points.push_back(point ? std::move(*point)
                             : refused_point(options, *options.gpus[gpu], setups[i], point.error()));
    }
  if (!any && error) return tl::unexpected(*error);
  return points;
}

}  // namespace ullage::cli
