// SPDX-License-Identifier: Apache-2.0
// The user's files around a rehearsal: which folders a script may write, what it made, and the state before it. The
// protection itself is virtual_gpu/files; both know the folder `files` of a run directory (docs/run_directory.md).
#pragma once

#include "base/result.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ullage {

/// Gives the value of a variable of the environment, or an empty text.
using Variables = std::function<std::string(const std::string& name)>;

/// Devices, caches (~/.cache and what HF_HOME, TORCH_HOME and the like name) and the run directory, absolute and
/// without links. A variable that names a folder which holds the working directory or the home directory is not
/// believed: it would open everything.
[[nodiscard]] std::vector<std::string> written_through_folders(const Variables& variables,
                                                               const std::string& run_directory);

/// Makes what the processes of a rehearsal share. Errors: `io`.
[[nodiscard]] Result<void> prepare_file_protection(const std::string& run_directory);

/// What a rehearsal did, or would have done, to files. Absolute paths, sorted.
struct TouchedFiles {
  std::vector<std::string> created;      ///< files and links that are there now, no sockets or pipes
  std::vector<std::string> overwritten;  ///< were there; the script's version is in the shadow
  std::vector<std::string> deleted;      ///< were there and still are
};

/// Empty for a run without protection.
[[nodiscard]] TouchedFiles touched_files(const std::string& run_directory);

/// Moves what a run created into its folder files/created, so that the next run finds the files as this one did. Gives
/// what could not be moved, in words.
[[nodiscard]] std::vector<std::string> take_created_files_back(const std::string& run_directory);

}  // namespace ullage
