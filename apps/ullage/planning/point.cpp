// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/point.hpp"

#include "apps/ullage/device.hpp"
#include "apps/ullage/planning/formulas.hpp"
#include "ledger/verdict.hpp"
#include "planner/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

using lowering::Setup;

/// With a cache, passes have names of their own.
std::string phase_name(const Setup& setup, program::Phase phase, std::uint32_t step) {
  if (setup.cache == 0 || step == 0) return std::string(program::name_of(phase));
  return step == 1 ? "prefill" : "decode";
}

/// A forward pass for each token as two: the prefill, and all that follow as one.
std::vector<report::PlanPhase> generation_phases(const std::vector<report::PlanPhase>& phases) {
  std::vector<report::PlanPhase> merged;
  for (const report::PlanPhase& phase : phases) {
    if (merged.empty() || phase.step <= 2) {
      merged.push_back(phase);
      continue;
    }
    report::PlanPhase& decode = merged.back();
    decode.last_step = phase.step;
    decode.allocated = phase.allocated, decode.reserved = phase.reserved;
    decode.peak_allocated = std::max(decode.peak_allocated, phase.peak_allocated);
    decode.peak_reserved = std::max(decode.peak_reserved, phase.peak_reserved);
  }
  return merged;
}

report::PlanStep step_view(const planner::StepPlan& plan, const Setup& setup) {
  report::PlanStep view;
  view.micro_batch = static_cast<std::uint64_t>(setup.micro_batch);
  view.sequence = static_cast<std::uint64_t>(setup.sequence);
  view.peak_allocated = plan.peak_allocated, view.peak_reserved = plan.peak_reserved;
  view.allocated_at = moment_of(setup, plan.allocated_at), view.reserved_at = moment_of(setup, plan.reserved_at);
  for (const planner::PhasePeak& phase : plan.phases)
    view.phases.push_back({phase_name(setup, phase.phase, phase.step), phase.step, phase.micro_batch, phase.allocated,
                           phase.reserved, phase.peak_allocated, phase.peak_reserved, 0});
  if (setup.cache > 0) view.phases = generation_phases(view.phases);
  return view;
}

/// The verdict on the need without a limit; where that is too much, a run with the limit has the last word: cached
/// memory that is given back in time may be enough.
void judge(const PlanOptions& options, const Setup& setup, const program::Program& program, std::uint64_t context,
           report::PlanPoint& point) {
  const std::uint64_t capacity = point.device->capacity_bytes;
  const auto bound = ledger::judge(capacity, point.at_least, options.headroom, options.reserve_bytes);
  point.step->verdict = ledger::name_of(bound.verdict);
  point.left = bound.left_bytes, point.missing = bound.missing_bytes, point.left_fraction = bound.fraction;
  if (bound.verdict != ledger::Verdict::oom) return;
  const std::uint64_t taken = context + options.reserve_bytes;
  const planner::StepPlan limited = planner::run_program(program, {}, capacity > taken ? capacity - taken : 0);
  point.step->retries = limited.retries;
  if (!limited.shortage) {
    point.step->verdict = ledger::name_of(ledger::Verdict::tight);
    point.step->with_limit = context + limited.peak_reserved;
    return;
  }
  point.fits_not = true;
  point.step->shortage = report::PlanShortage{moment_of(setup, limited.shortage->moment), limited.shortage->requested};
}

void mark_estimated(ledger::Line& line) {
  line.known_by = ledger::KnownBy::estimated;
  for (ledger::Line& child : line.children) mark_estimated(child);
}

}  // namespace

report::PlanMoment moment_of(const Setup& setup, const planner::Moment& moment) {
  return {phase_name(setup, moment.phase, moment.step), moment.step, moment.micro_batch, moment.module,
          moment.operation};
}

bool Lowered::serves(const Gpu& gpu) const {
  return answers.alike(facts, lowering::facts_of(gpu));
}

Result<Lowered> lowered(const Setup& setup, const model::Model& model, const Gpu& gpu) {
  Lowered made{{}, lowering::facts_of(gpu), {}};
  auto program = lowering::lower(model, setup, made.facts, &made.answers);
  if (!program) return tl::unexpected(program.error());
  made.program = std::move(*program);
  return made;
}

Result<Planned> planned(const PlanOptions& options, const Setup& setup, Lowered&& whole) {
  Planned made{std::move(whole), {}};
  if (options.training.ranks > 1)
    made.of.program = planner::of_one_rank(std::move(made.of.program), options.training.zero, options.training.ranks);
  made.plan = planner::run_program(made.of.program, {});
  if (made.plan.shortage)
    return fail(ErrorKind::usage, "this needs more memory than a process has addresses for",
                fmt::format("micro batch {}, sequence {}", setup.micro_batch, setup.sequence), "less than 127 TiB");
  if (options.training.ranks > 1)
    for (ledger::Line& line : made.plan.lines) mark_estimated(line);
  return made;
}

report::PlanPoint point_of(const PlanOptions& options, const Setup& setup, const model::Model& model, const Gpu& gpu,
                           const Planned& planned) {
  const program::Program& program = planned.of.program;
  const std::uint64_t context = context_bytes(gpu);
  report::PlanPoint point;
  if (options.explain) point.formulas = formulas_of(setup, program, planned.plan);
  point.device = device_info(gpu, options.memory_bytes.value_or(gpu.capacity_bytes()));
  std::vector<ledger::Line> lines;
  lines.push_back({"context", "CUDA context and loaded modules", context, ledger::KnownBy::estimated, {}, {}, 0});
  lines.push_back(ledger::sum_line("reserved", "PyTorch reserved", ledger::KnownBy::derived, planned.plan.lines));
  if (options.training.ranks > 1) lines.back().known_by = ledger::KnownBy::estimated;
  point.ledger = ledger::sum_line("used", "used on the device", ledger::KnownBy::estimated, std::move(lines));
  point.at_least = point.ledger.bytes;
  point.step = step_view(planned.plan, setup);
  if (setup.cache > 0)
    point.step->generation = generation_cost(program, setup, gpu);
  else
    point.step->cost = step_cost(program, setup, model, gpu, {options.length.tokens, options.training.ranks});
  judge(options, setup, program, context, point);
  return point;
}

Result<report::PlanPoint> step_point(const PlanOptions& options, const Setup& setup, const model::Model& model,
                                     const Gpu& gpu) {
  return lowered(setup, model, gpu)
      .and_then([&](Lowered&& whole) { return planned(options, setup, std::move(whole)); })
      .map([&](const Planned& made) { return point_of(options, setup, model, gpu, made); });
}

}  // namespace ullage::cli
