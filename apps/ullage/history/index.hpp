// SPDX-License-Identifier: Apache-2.0
// From a run directory to the store.
#pragma once

#include "store/record.hpp"

#include <string>

namespace ullage::cli {

/// The id of the run in a directory: its name where it is a kept run, else its name and a hash of its path.
[[nodiscard]] std::string id_of_directory(const std::string& directory);

/// As the store has it: absolute, without a slash at its end.
[[nodiscard]] std::string absolute_path(const std::string& directory);

/// True for a folder that lies in the runs directory itself.
[[nodiscard]] bool is_kept_run(const std::string& directory);

/// True for a folder with marks.jsonl or run.json.
[[nodiscard]] bool is_run_directory(const std::string& directory);

/// What its run.json says. Errors: `bad_input` when there is none (the run did not end) or it is damaged; `io`.
[[nodiscard]] Result<store::Record> read_record(const std::string& directory);

/// Adds a finished run to the store, where there is to be one. A failure is said on stderr and does no harm.
void index_run(const std::string& directory);

}  // namespace ullage::cli
