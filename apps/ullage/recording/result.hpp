// SPDX-License-Identifier: Apache-2.0
// The result of a recording, from what the recorder left: the same shape as a rehearsal's (docs/result.md).
#pragma once

#include "ingest/run_directory/run_directory.hpp"
#include "report/run_result.hpp"

#include <string>

namespace ullage::cli {

/// Of a directory whose facts say that it is a recording. Without a GPU it has no device, no verdict and no headroom.
/// Of many steps only some have their phases: the first, those with the peaks, the last.
[[nodiscard]] report::RunResult result_of_recording(const ingest::RunDirectory& run);

/// The same of a path. Errors: those of read_run_directory; `bad_input` for a run that is no recording.
[[nodiscard]] Result<report::RunResult> result_of_recording(const std::string& directory);

/// False while its process may still write.
[[nodiscard]] bool recording_has_ended(const ingest::RunDirectory& run);

/// Writes run.json where it is missing and the recording has ended. What cannot be written (a folder of somebody else)
/// stays unwritten: every command works without it.
void settle_recording(const ingest::RunDirectory& run);

}  // namespace ullage::cli
