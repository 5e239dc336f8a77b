// SPDX-License-Identifier: Apache-2.0
// Which of the command's processes the run is about (docs/run_directory.md, "processes").
#pragma once

#include <string>

namespace ullage::cli {

/// Puts the records of the process that the run is about in place, as marks.jsonl beside its other files: those of a
/// killed owner, or, when no process that trained has followed, those of the one that used the device most. False when
/// no process left any.
bool settle_owner(const std::string& directory);

}  // namespace ullage::cli
