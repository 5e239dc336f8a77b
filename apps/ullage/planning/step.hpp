// SPDX-License-Identifier: Apache-2.0
// Planning a step: the flags that make it more than states, and one point of the answer.
#pragma once

#include "apps/ullage/planning/options.hpp"
#include "lowering/lower.hpp"
#include "model/description.hpp"
#include "planner/step_plan.hpp"
#include "report/plan_view.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::cli {

/// What `--fit` looks for the largest value of; of ranks, the smallest.
enum class FitOf : std::uint8_t { micro_batch, sequence, layers, world };

struct StepOptions {
  std::vector<std::uint64_t> micro_batches, sequences;  ///< at least one of each
  lowering::Setup setup;                                ///< of the first of them
  std::string attention, checkpoint;                    ///< as on the command line
  std::vector<std::string> assumed;                     ///< flags that were not given
  std::optional<std::uint64_t> global_batch;            ///< sequences of an optimizer step, of all ranks
  std::optional<FitOf> fit;
};

/// Nothing where the flags ask for states alone. Errors: `usage`, for flags that need each other and for what no step
/// is planned of.
[[nodiscard]] Result<std::optional<StepOptions>> step_options(const Arguments& arguments, const PlanOptions& options,
                                                              const model::Model& model);

/// A planned moment as it is shown; with a cache, passes have names of their own.
[[nodiscard]] report::PlanMoment moment_of(const lowering::Setup& setup, const planner::Moment& moment);

/// One step on one GPU. Errors: those of the lowering.
[[nodiscard]] Result<report::PlanPoint> step_point(const PlanOptions& options, const lowering::Setup& setup,
                                                   const model::Model& model, const Gpu& gpu);

/// The same of a program that is lowered, one rank's where the options name several.
[[nodiscard]] Result<report::PlanPoint> program_point(const PlanOptions& options, const lowering::Setup& setup,
                                                      const model::Model& model, const Gpu& gpu,
                                                      const program::Program& program);

/// The point of the smallest number of ranks that fits with the headroom and the options' ZeRO stage; that of
/// `most_world` ranks, with value 0, where none does.
[[nodiscard]] Result<report::PlanPoint> smallest_world(const PlanOptions& options, const StepOptions& step,
                                                       const model::Model& model, const Gpu& gpu);
inline constexpr std::uint64_t most_world = 65'536;

/// All points: every GPU with every sequence length and micro batch; with --fit the largest value that fits each GPU,
/// and nothing fits where `value` of a point is 0. What cannot be planned of one point stands in it; an
/// error only where no point can be planned.
[[nodiscard]] Result<std::vector<report::PlanPoint>> step_points(const PlanOptions& options, const StepOptions& step,
                                                                 const model::Model& model);

/// Single changes to one planned point, the one that saves most first: checkpointing, attention, precision, optimizer,
/// half the micro batch with twice the accumulation, half the sequence.
[[nodiscard]] Result<std::vector<report::PlanChange>> changes_of(const PlanOptions& options, const StepOptions& step,
                                                                 const model::Model& model,
                                                                 const report::PlanPoint& point);

/// The popular closed forms for one planned point.
[[nodiscard]] std::vector<report::PlanRule> rules_of(const StepOptions& step, const model::Model& model,
                                                     const report::PlanPoint& point);

}  // namespace ullage::cli
