// SPDX-License-Identifier: Apache-2.0
// The flags that make a plan one of whole steps.
#pragma once

#include "apps/ullage/planning/options.hpp"
#include "lowering/lower.hpp"
#include "model/description.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::cli {

/// What `--fit` looks for the largest value of; of ranks, the smallest.
enum class FitOf : std::uint8_t { micro_batch, sequence, layers, world };
/// By FitOf, as on the command line.
inline constexpr std::array<std::string_view, 4> fit_names{"micro-batch", "seq", "layers", "world"};

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

/// Micro batches of `micro_batch` sequences before an optimizer step, on each rank. Errors: `usage`, where the global
/// batch is not made of them; never of the micro batches of the options.
[[nodiscard]] Result<std::uint64_t> accumulation_of(const PlanOptions& options, const StepOptions& step,
                                                    std::uint64_t micro_batch);

}  // namespace ullage::cli
