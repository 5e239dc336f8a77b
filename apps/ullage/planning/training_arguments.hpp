// SPDX-License-Identifier: Apache-2.0
// The TrainingArguments of transformers, as its Trainer writes them (to_json_string), in the flags of a plan.
#pragma once

#include "apps/ullage/planning/run_file.hpp"
#include "ingest/run_file/run_file.hpp"

#include <vector>

namespace ullage::cli {

/// True when the settings are those of TrainingArguments, by names that a run file of ours does not have.
[[nodiscard]] bool is_training_arguments(const std::vector<ingest::Setting>& settings);

/// Settings of a run file of ours. Notes in `use` what has no effect and what would have one that is not planned.
/// Defaults are those of transformers 5.24: fp32, a micro batch of 8, fused AdamW. Errors: `bad_input` for an optimizer
/// that no plan knows.
[[nodiscard]] Result<std::vector<ingest::Setting>> from_training_arguments(const std::vector<ingest::Setting>& settings,
                                                                           RunFileUse& use);

}  // namespace ullage::cli
