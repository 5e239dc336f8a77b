// SPDX-License-Identifier: Apache-2.0
// One planned step on one GPU: a row of the answer.
#pragma once

#include "apps/ullage/planning/options.hpp"
#include "lowering/lower.hpp"
#include "model/description.hpp"
#include "planner/step_plan.hpp"
#include "report/plan_view.hpp"

namespace ullage::cli {

/// The program of a setup on one GPU, and all GPUs that it is the program of.
struct Lowered {
  program::Program program;
  lowering::DeviceFacts facts;
  lowering::DeviceAnswers answers;
  /// Whether this GPU would get the same program.
  [[nodiscard]] bool serves(const Gpu& gpu) const;
};

/// Errors: those of the lowering.
[[nodiscard]] Result<Lowered> lowered(const lowering::Setup& setup, const model::Model& model, const Gpu& gpu);

/// The same, of one rank where the options name several, with what the allocator makes of it on a device without end.
struct Planned {
  Lowered of;
  planner::StepPlan plan;
};

/// Errors: `usage`, for more than a process can address.
[[nodiscard]] Result<Planned> planned(const PlanOptions& options, const lowering::Setup& setup, Lowered&& whole);

/// What is planned, on a GPU that it serves.
[[nodiscard]] report::PlanPoint point_of(const PlanOptions& options, const lowering::Setup& setup,
                                         const model::Model& model, const Gpu& gpu, const Planned& planned);

/// One step on one GPU. Errors: those of the two above.
[[nodiscard]] Result<report::PlanPoint> step_point(const PlanOptions& options, const lowering::Setup& setup,
                                                   const model::Model& model, const Gpu& gpu);

/// A planned moment as it is shown; with a cache, passes have names of their own.
[[nodiscard]] report::PlanMoment moment_of(const lowering::Setup& setup, const planner::Moment& moment);

}  // namespace ullage::cli
