// SPDX-License-Identifier: Apache-2.0
// How many ranks a training needs.
#include "apps/ullage/planning/step.hpp"
#include "lowering/lower.hpp"
#include "planner/ranks.hpp"

namespace ullage::cli {
namespace {

bool fits(const report::PlanPoint& point) {
  return point.step->verdict == "fits";
}

}  // namespace

Result<report::PlanPoint> smallest_world(const PlanOptions& options, const StepOptions& step, const model::Model& model,
                                         const Gpu& gpu) {
  const auto program = lowering::lower(model, step.setup, lowering::facts_of(gpu));
  if (!program) return tl::unexpected(program.error());
  const auto tried = [&](std::uint64_t ranks) {
    PlanOptions chosen = options;
    chosen.training.ranks = ranks;
    return program_point(chosen, step.setup, model, gpu, planner::of_one_rank(*program, options.training.zero, ranks))
        .map([&](report::PlanPoint point) {
          point.step->fit_value = ranks;
          return point;
        });
  };
  std::uint64_t bad = 0, good = 1;
  auto best = tried(good);
  while (best && !fits(*best) && good < most_world) {
    bad = good, good *= 2;
    best = tried(good);
  }
  if (!best) return best;
  if (!fits(*best)) return best->step->fit_value = 0, best;
  while (good - bad > 1) {
    const std::uint64_t middle = bad + (good - bad) / 2;
    auto point = tried(middle);
    if (!point) return point;
    (fits(*point) ? good : bad) = middle;
    if (fits(*point)) best = std::move(point);
  }
  return best;
}

}  // namespace ullage::cli
