// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/beside.hpp"

#include "apps/ullage/planning/point.hpp"
#include "planner/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

using lowering::DType;
using lowering::Setup;

/// A setup and the flags that name its difference.
struct Change {
  std::string flags;
  Setup setup;
};

void add_cheaper_kinds(const Setup& now, const model::Model& model, std::vector<Change>& changes) {
  const auto add = [&](const char* flags, auto change) {
    Setup setup = now;
    change(setup);
    changes.push_back({flags, std::move(setup)});
  };
  if (now.checkpoint_every != 1) add("--checkpoint full", [](Setup& setup) { setup.checkpoint_every = 1; });
  if (now.attention == lowering::Attention::eager && model.model_type != "gemma2")
    add("--attention sdpa", [](Setup& setup) { setup.attention = lowering::Attention::sdpa; });
  if (now.weights == DType::fp32)
    add("--precision bf16", [](Setup& setup) { setup.weights = DType::bf16, setup.autocast = setup.tf32 = false; });
  if (now.weights == DType::fp32 && !now.autocast)
    add("--precision bf16-autocast", [](Setup& setup) { setup.autocast = true, setup.tf32 = false; });
  if (now.optimizer == lowering::OptimizerKind::adamw)
    add("--optimizer adamw-fused", [](Setup& setup) { setup.optimizer = lowering::OptimizerKind::adamw_fused; });
  const bool keeps_two = now.optimizer == lowering::OptimizerKind::adamw ||
                         now.optimizer == lowering::OptimizerKind::adamw_fused ||
                         now.optimizer == lowering::OptimizerKind::adamw_forloop;
  if (keeps_two) add("--optimizer sgd", [](Setup& setup) { setup.optimizer = lowering::OptimizerKind::sgd; });
  if (now.keep_gradients) add("without --keep-gradients", [](Setup& setup) { setup.keep_gradients = false; });
}

/// Halves that keep the tokens of a step, and half the sequence, which does not.
void add_halves(const Setup& now, std::vector<Change>& changes) {
  if (now.micro_batch > 1 && now.micro_batch % 2 == 0) {
    Setup setup = now;
    setup.micro_batch /= 2, setup.accumulate *= 2;
    changes.push_back({fmt::format("--micro-batch {} --accumulate {}", setup.micro_batch, setup.accumulate), setup});
  }
  if (now.sequence > 1) {
    Setup setup = now;
    setup.sequence /= 2;
    changes.push_back({fmt::format("--seq {}", setup.sequence), setup});
  }
}

report::PlanChange change_of(const std::string& flags, const report::PlanPoint& now, const report::PlanPoint& then) {
  report::PlanChange change{flags, then.at_least, 0, std::nullopt, then.step->verdict, then.step->with_limit};
  change.saved = static_cast<std::int64_t>(now.at_least) - static_cast<std::int64_t>(then.at_least);
  if (then.step->cost) change.seconds = then.step->cost->time.step.value;
  return change;
}

}  // namespace

Result<std::vector<report::PlanChange>> changes_of(const PlanOptions& options, const StepOptions& step,
                                                   const model::Model& model, const report::PlanPoint& point) {
  std::vector<Change> changes;
  add_cheaper_kinds(step.setup, model, changes);
  add_halves(step.setup, changes);
  std::vector<report::PlanChange> planned;
  for (const Change& change : changes) {
    const auto then = step_point(options, change.setup, model, *options.gpus.front());
    if (!then) return tl::unexpected(then.error());
    planned.push_back(change_of(change.flags, point, *then));
  }
  std::ranges::stable_sort(planned, std::greater<>{}, &report::PlanChange::saved);
  return planned;
}

std::vector<report::PlanRule> rules_of(const StepOptions& step, const model::Model& model,
                                       const planner::States& states, const report::PlanPoint& point) {
  planner::RuleInput input;
  input.parameters = static_cast<double>(model::parameter_count(model));
  input.micro_batch = static_cast<double>(point.step->micro_batch);
  input.sequence = static_cast<double>(point.step->sequence);
  input.states = static_cast<double>(states.bytes);
  input.checkpoint_every = step.setup.checkpoint_every;
  // products of a fused kernel are counted apart; without a GPU's rates nobody counted
  input.keeps_scores =
      point.step->cost ? point.step->cost->flops.attention == 0 : step.setup.attention == lowering::Attention::eager;
  std::vector<report::PlanRule> rules;
  for (const planner::Rule& rule : planner::popular_rules(model.network, input))
    rules.push_back({rule.name, rule.formula, rule.misses, rule.counts, rule.bytes});
  return rules;
}

}  // namespace ullage::cli
