// SPDX-License-Identifier: Apache-2.0
// Where a command takes a RUN or a FILE: one resolver decides which is meant.
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>

namespace ullage::cli {

/// Where runs without --out are kept: `ullage/runs` in XDG_DATA_HOME or ~/.local/share.
[[nodiscard]] std::filesystem::path runs_directory();

/// Where the run of a folder is: the folder itself, or, where several ranks have one folder, the run directory of the
/// first of them in it.
[[nodiscard]] std::filesystem::path directory_with_marks(const std::filesystem::path& path);

/// The path that is meant, in this order: `-` (the standard input), an existing path, the name of a kept run, the only
/// kept run whose name begins with it, `@last` (the newest kept run). Errors: `usage`, with the runs that come near.
[[nodiscard]] Result<std::string> resolve_run_or_file(const std::string& argument);

}  // namespace ullage::cli
