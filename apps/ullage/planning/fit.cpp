// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/fit.hpp"

#include "apps/ullage/device.hpp"
#include "ledger/verdict.hpp"
#include "planner/frozen.hpp"
#include "planner/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {

using lowering::Setup;
using planner::Trial;

// a generation has a longest tail of single tokens, hence a shortest sequence
planner::SearchRange FitSearch::range() const {
  switch (*step_.fit) {
    case FitOf::micro_batch:
      return {1, 4096};
    case FitOf::sequence:
      return {lowering::shortest_prefill(found_.model.network, step_.setup), most_tokens / 16};
    case FitOf::layers:
      return {1, 1024, 2};
    case FitOf::world:
      break;
  }
  return {1, most_world};
}

Result<FitSearch::Variant> FitSearch::variant_of(std::uint64_t value) const {
  Variant variant{options_, step_.setup, {}};
  if (*step_.fit == FitOf::micro_batch) variant.setup.micro_batch = static_cast<std::int64_t>(value);
  if (*step_.fit == FitOf::sequence) variant.setup.sequence = static_cast<std::int64_t>(value);
  if (*step_.fit == FitOf::world) variant.options.training.ranks = value;
  const bool layers = *step_.fit == FitOf::layers;
  if (!layers && *step_.fit != FitOf::sequence) return variant.model = found_.model, variant;
  auto model = layers ? with_layers(options_, found_, value) : with_sequence(options_, found_, value);
  if (!model) return tl::unexpected(model.error());
  variant.model = std::move(*model);
  auto frozen = planner::frozen_parameters(variant.model, options_.training.freeze);
  if (!frozen) return tl::unexpected(frozen.error());
  variant.setup.frozen = std::move(*frozen);
  return variant;
}

bool FitSearch::fits(const Gpu& gpu, std::uint64_t bytes) const {
  const std::uint64_t capacity = options_.memory_bytes.value_or(gpu.capacity_bytes());
  return ledger::judge(capacity, context_bytes(gpu) + bytes, options_.headroom, options_.reserve_bytes).verdict ==
         ledger::Verdict::fits;
}

Result<const Lowered*> FitSearch::program_of(const Variant& variant, const Gpu& gpu) {
  const bool same = *step_.fit == FitOf::world && kept_ && kept_->serves(gpu);
  if (same) return &*kept_;
  auto made = lowered(variant.setup, variant.model, gpu);
  if (!made) return tl::unexpected(made.error());
  kept_ = std::move(*made);
  return &*kept_;
}

Result<FitSearch::Need> FitSearch::planned_need(const Variant& variant, std::uint64_t value, const Gpu& gpu) {
  const auto whole = program_of(variant, gpu);
  if (!whole) return tl::unexpected(whole.error());
  const planner::Training& training = variant.options.training;
  std::optional<program::Program> share;
  if (training.ranks > 1) share = planner::of_one_rank((*whole)->program, training.zero, training.ranks);
  const program::Program& program = share ? *share : (*whole)->program;
  Need need{value, (*whole)->facts, (*whole)->answers, planner::peak_of_requests(program), {}};
  if (!fits(gpu, need.requested)) return need;
  const planner::StepPlan plan = planner::run_program(program, {});
  if (!plan.shortage) need.reserved = plan.peak_reserved;
  return need;
}

Result<FitSearch::Need> FitSearch::need_of(std::uint64_t value, const Gpu& gpu) {
  const auto known = std::ranges::find_if(needs_, [&](const Need& need) {
    return need.value == value && need.answers.alike(need.facts, lowering::facts_of(gpu));
  });
  if (known != needs_.end() && (known->reserved || !fits(gpu, known->requested))) return *known;
  const auto variant = variant_of(value);
  if (!variant) return tl::unexpected(variant.error());
  auto need = planned_need(*variant, value, gpu);
  if (!need) return need;
  if (known != needs_.end()) return *known = *need;
  return needs_.push_back(*need), need;
}

Trial FitSearch::trial_of(std::uint64_t value, const Gpu& gpu) {
  progress_.say(
      fmt::format("planning {}: {} {}", gpu.short_name, fit_names[static_cast<std::size_t>(*step_.fit)], value));
  if (*step_.fit == FitOf::layers)  // weights alone may be too much: known at once
    if (const auto variant = variant_of(value))
      if (const auto states = planner::states_of(variant->model, options_.training))
        if (!fits(gpu, states->bytes)) return Trial::hopeless;
  const auto need = need_of(value, gpu);
  if (!need) return Trial::refused;
  if (!need->reserved || !fits(gpu, need->requested)) return Trial::hopeless;
  return fits(gpu, *need->reserved) ? Trial::fits : Trial::over;
}

/// What keeps the neighbour from fitting.
void FitSearch::note_next(report::PlanStep& step, const planner::SearchEnd& end, const Gpu& gpu) {
  if (!end.next) {
    step.fit_stopped = *step_.fit != FitOf::world;
    return;
  }
  step.fit_next = report::PlanNextValue{*end.next, {}, {}};
  const auto point = variant_of(*end.next).and_then(
      [&](const Variant& variant) { return step_point(variant.options, variant.setup, variant.model, gpu); });
  if (point)
    step.fit_next->needed = point->at_least;
  else
    step.fit_next->refused = point.error().what;
}

Result<report::PlanPoint> FitSearch::on(const Gpu& gpu) {
  const planner::SearchRange range = this->range();
  const bool smallest = *step_.fit == FitOf::world;
  const planner::Try tried = [&](std::uint64_t value) { return trial_of(value, gpu); };
  const planner::SearchEnd end =
      smallest ? planner::smallest_that_fits(range, tried) : planner::largest_that_fits(range, tried);
  const std::uint64_t shown = end.value > 0 ? end.value : smallest ? range.last : range.first;
  const auto variant = variant_of(shown);
  if (!variant) return tl::unexpected(variant.error());
  auto point = step_point(variant->options, variant->setup, variant->model, gpu);
  if (!point) return point;
  point->step->fit_value = end.value;
  if (end.value > 0) note_next(*point->step, end, gpu);
  return point;
}

}  // namespace ullage::cli
