// SPDX-License-Identifier: Apache-2.0
// The user's files before, between and after the runs of a rehearsal.
#pragma once

#include "apps/ullage/rehearsal/attempt.hpp"
#include "report/run_result.hpp"

namespace ullage::cli {

/// Before a run. Errors: `io`.
[[nodiscard]] Result<void> prepare_files(const RehearsalOptions& options, const std::string& directory);

/// After a run: trackers that wrote nothing leave no folder.
void tidy_files(const std::string& directory);

/// Before the next run of the same rehearsal, which is to find the files as this one did: what this one created goes
/// into its run directory. What cannot be moved is said on stderr.
void take_files_back(const std::string& directory);

/// The same before a run that takes this one's run directory over: empties it, but for `files-before` with what the run
/// did to files.
void clear_for_rerun(const std::string& directory);

/// What the run created, and what it would have changed.
void take_files(report::RunResult& result, const RehearsalOptions& options, const Attempt& attempt);

}  // namespace ullage::cli
