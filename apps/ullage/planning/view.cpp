// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/view.hpp"

#include "apps/ullage/device.hpp"
#include "apps/ullage/planning/fit.hpp"
#include "base/bytes.hpp"
#include "ledger/verdict.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace ullage::cli {
namespace {

using ledger::KnownBy;

report::PlanModel model_view(const PlanOptions& options, const model::Model& model, const planner::States& states,
                             const std::string& origin) {
  report::PlanModel view;
  view.name = options.parameters ? "parameters" : options.family.empty() ? options.model : "own " + options.family;
  view.model_type = model.model_type, view.architecture = model.architecture, view.origin = origin;
  view.parameters = model::parameter_count(model);
  view.trained = options.train ? states.trained : 0;
  view.assumed = model.assumed, view.ignored = model.ignored;
  if (options.parameters) return view;
  for (const model::Group& group : model.groups)
    for (const model::Parameter& parameter : group.parameters)
      view.list.push_back({model::full_name(group, parameter, "*"), group.repeat, parameter.shape, parameter.tied_to});
  return view;
}

report::PlanSetup setup_view(const PlanOptions& options) {
  const planner::Training& training = options.training;
  report::PlanSetup view;
  view.train = options.train;
  view.precision = training.precision->name;
  view.precision_meaning = training.precision->meaning;
  view.framework = setup::name_of(training.precision->framework);
  view.source = training.precision->source;
  if (training.optimizer != nullptr) {
    view.optimizer = training.optimizer->name;
    const bool own = training.precision->framework != setup::Framework::pytorch;
    view.optimizer_meaning = own ? "the framework's own, on the fp32 copies" : training.optimizer->meaning;
  }
  view.freeze = training.freeze;
  view.ranks = training.ranks, view.zero = training.zero;
  view.assumed = options.assumed;
  return view;
}

ledger::Line used_line(const planner::States& states, const Gpu* gpu) {
  KnownBy known_by = KnownBy::derived;
  for (const ledger::Line& line : states.lines) known_by = std::max(known_by, line.known_by);
  std::vector<ledger::Line> lines;
  if (gpu != nullptr)
    lines.push_back({"context", "CUDA context and loaded modules", context_bytes(*gpu), KnownBy::estimated, {}, {}, 0});
  lines.push_back(ledger::sum_line("reserved", "PyTorch reserved, at least", known_by, states.lines));
  const KnownBy weakest = gpu != nullptr ? std::max(known_by, KnownBy::estimated) : known_by;
  return ledger::sum_line("used", "used on the device, at least", weakest, std::move(lines));
}

report::PlanPoint point_of(const PlanOptions& options, const planner::States& states, const Gpu* gpu) {
  report::PlanPoint point;
  point.ledger = used_line(states, gpu);
  point.at_least = point.ledger.bytes;
  if (gpu == nullptr) return point;
  const std::uint64_t capacity = options.memory_bytes.value_or(gpu->capacity_bytes());
  point.device = device_info(*gpu, capacity);
  const auto bound = ledger::judge(capacity, point.at_least, options.headroom, options.reserve_bytes);
  point.fits_not = bound.verdict == ledger::Verdict::oom;
  if (!point.fits_not) point.at_best = ledger::name_of(bound.verdict);
  point.left = bound.left_bytes, point.missing = bound.missing_bytes, point.left_fraction = bound.fraction;
  return point;
}

/// What stands beside the points.
report::PlanView frame(const PlanOptions& options, const model::Model& model, const planner::States& states,
                       const std::string& origin) {
  report::PlanView view;
  view.model = model_view(options, model, states, origin);
  view.setup = setup_view(options);
  if (options.gpus.size() == 1)
    view.formulas.push_back({"context", "a constant of the GPU = " + format_bytes(context_bytes(*options.gpus.front())),
                             "first CUDA call"});
  for (const planner::Formula& formula : states.formulas)
    view.formulas.push_back({formula.line, formula.text, formula.appears});
  view.envelope = envelope_of(options.length, view.model.parameters);
  view.headroom = options.headroom, view.reserve_bytes = options.reserve_bytes;
  view.transformers = "5.24", view.torch = "2.11";
  return view;
}

bool belongs(const std::string& line, const std::string& account) {
  return line == account || line.starts_with(account + ".");
}

/// Ranks share each tensor rounded up, closed forms share their sum.
bool is_form_of(const ledger::Line& form, const ledger::Line& line) {
  if (form.known_by == KnownBy::derived) return form.bytes == line.bytes;
  return line.bytes >= form.bytes && line.bytes - form.bytes <= form.bytes / 10'000;
}

/// Closed forms of states stand where the step has just those at its moment; else what the step says of itself.
void use_formulas_of(const report::PlanPoint& point, const planner::States& states,
                     std::vector<report::PlanFormula>& formulas) {
  std::vector<report::PlanFormula> own = point.formulas;
  for (const ledger::Line& account : states.lines) {
    const ledger::Line* found = ledger::find(point.ledger, account.id);
    const bool same = found != nullptr && is_form_of(account, *found);
    std::erase_if(same ? own : formulas, [&](const auto& formula) { return belongs(formula.line, account.id); });
  }
  formulas.insert(formulas.end(), own.begin(), own.end());
}

}  // namespace

report::PlanView plan_view(const PlanOptions& options, const model::Model& model, const planner::States& states,
                           const std::string& origin) {
  report::PlanView view = frame(options, model, states, origin);
  for (const Gpu* gpu : options.gpus) view.points.push_back(point_of(options, states, gpu));
  if (options.gpus.empty()) view.points.push_back(point_of(options, states, nullptr));
  return view;
}

report::PlanView plan_view(const PlanOptions& options, const StepOptions& step, std::vector<report::PlanPoint> points,
                           const model::Model& model, const planner::States& states, const std::string& origin) {
  report::PlanView view = frame(options, model, states, origin);
  view.points = std::move(points);
  if (view.points.size() == 1) use_formulas_of(view.points.front(), states, view.formulas);
  view.setup.attention = step.attention, view.setup.checkpoint = step.checkpoint;
  view.setup.accumulate = step.setup.accumulate, view.setup.keep_gradients = step.setup.keep_gradients;
  view.setup.padding = step.setup.padding, view.setup.cache = static_cast<std::uint64_t>(step.setup.cache);
  if (step.fit) view.setup.fit = fit_names[static_cast<std::size_t>(*step.fit)];
  if (step.fit == FitOf::world && view.points.size() == 1)
    view.setup.ranks =
        view.points.front().step->fit_value.value_or(0) > 0 ? *view.points.front().step->fit_value : most_world;
  view.setup.assumed.insert(view.setup.assumed.end(), step.assumed.begin(), step.assumed.end());
  return view;
}

}  // namespace ullage::cli
