// SPDX-License-Identifier: Apache-2.0
// What a planned step costs besides memory, and what a training comes to.
#pragma once

#include "apps/ullage/flags.hpp"
#include "hardware/catalogue.hpp"
#include "lowering/lower.hpp"
#include "model/description.hpp"
#include "program/program.hpp"
#include "report/plan_cost.hpp"

#include <optional>

namespace ullage::cli {

/// --tokens and --flops-rate, checked.
struct TrainingLength {
  std::optional<double> tokens, flops_per_second;
};

/// Errors: `usage` for what is no number, and for a rate without tokens.
[[nodiscard]] Result<TrainingLength> training_length(const Arguments& arguments);

/// Nothing without tokens.
[[nodiscard]] std::optional<report::PlanEnvelope> envelope_of(const TrainingLength& length, std::uint64_t parameters);

/// A whole training: its tokens, if they are known, and the ranks that share them.
struct TrainingRun {
  std::optional<double> tokens;
  std::uint64_t ranks = 1;
};

/// FLOPs and time of the program's last step; nothing where the GPU's rates are not known.
[[nodiscard]] std::optional<report::PlanCost> step_cost(const program::Program& program, const lowering::Setup& setup,
                                                        const model::Model& model, const Gpu& gpu,
                                                        const TrainingRun& training);

/// The same of a generation with a KV cache: its first pass, and those for each token.
[[nodiscard]] std::optional<report::PlanGeneration> generation_cost(const program::Program& program,
                                                                    const lowering::Setup& setup, const Gpu& gpu);

}  // namespace ullage::cli
