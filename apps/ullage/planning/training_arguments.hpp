// SPDX-License-Identifier: Apache-2.0
// The TrainingArguments of transformers, as its Trainer writes them (to_json_string), in the flags of a plan.
#pragma once

#include "apps/ullage/planning/run_file.hpp"
#include "ingest/run_file/run_file.hpp"

#include <vector>

namespace ullage::cli {

/// True when the settings are those of TrainingArguments, by names that a run file of ours does not have.
[[nodiscard]] bool is_training_arguments(const std::vector<ingest::Setting>& settings);

/// Settings of a run file of ours; those that are flags of a plan stay as they are. Notes in `use` what is not read,
/// and apart what of it would change the numbers. Defaults are those of transformers 5.24: fp32, a micro batch of 8,
/// fused AdamW. What only a step has is left out where neither the file nor the command line asks for one. Errors:
/// `bad_input` for a value of another kind, and for an optimizer that no plan knows and the command line does not
/// replace.
[[nodiscard]] Result<std::vector<ingest::Setting>> from_training_arguments(const std::vector<ingest::Setting>& settings,
                                                                           const Shape& shape,
                                                                           const Arguments& arguments, RunFileUse& use);

}  // namespace ullage::cli
