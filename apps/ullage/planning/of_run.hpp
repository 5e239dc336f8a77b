// SPDX-License-Identifier: Apache-2.0
// The plan of the training that a run was of.
#pragma once

#include "hardware/catalogue.hpp"
#include "ingest/run_directory/run_facts.hpp"
#include "report/plan_view.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ullage::cli {

/// The flags of `ullage plan` that say what a run's facts say; empty where something of it is never planned: a model
/// that is no Hugging Face model, has frozen or missing parameters, another attention, dtype or optimizer.
[[nodiscard]] std::vector<std::string> plan_flags_of(const ingest::RunFacts& facts, const Gpu& gpu,
                                                     std::uint64_t capacity_bytes);

/// The plan; null where there is none, also where the planner refuses or counts other parameters. `gpu` may be null:
/// then there is none.
[[nodiscard]] std::shared_ptr<const report::PlanView> plan_of_run(const ingest::RunFacts& facts, const Gpu* gpu,
                                                                  std::uint64_t capacity_bytes);

/// Micro batch and sequence length of the first input with two dimensions: `[[4,256],[4,256]]`; nothing where there is
/// none.
struct InputShape {
  std::uint64_t micro_batch = 0, sequence = 0;
};
[[nodiscard]] std::optional<InputShape> input_shape(const std::string& shapes);

}  // namespace ullage::cli
