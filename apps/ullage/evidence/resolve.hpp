// SPDX-License-Identifier: Apache-2.0
// Where a command takes a RUN or a FILE: one resolver decides which is meant.
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace ullage::cli {

/// `ullage` in XDG_DATA_HOME or ~/.local/share; nothing without both.
[[nodiscard]] std::optional<std::filesystem::path> data_directory();

/// Where runs without --out are kept: `runs` in the data directory.
[[nodiscard]] std::filesystem::path runs_directory();

/// Where the run of a folder is: the folder itself, or, where several ranks have one folder, the run directory of the
/// first of them in it.
[[nodiscard]] std::filesystem::path directory_with_marks(const std::filesystem::path& path);

/// The second run of a rehearsal that ran out of memory, in which only the charging is unlimited: a run directory in
/// that of the first.
[[nodiscard]] std::filesystem::path unlimited_run(const std::filesystem::path& path);
[[nodiscard]] bool has_unlimited_run(const std::filesystem::path& path);
/// The directory with the result of a run directory: that of the first run, where it is a second one.
[[nodiscard]] std::filesystem::path directory_with_result(const std::filesystem::path& path);

/// A run that an argument names.
struct RunPlace {
  std::string id;         ///< empty of a path that was given
  std::string directory;  ///< may be gone
  bool imported = false;  ///< known from an imported history alone
};

/// What a command reads of a run.
enum class RunPart {
  evidence,  ///< its marks and snapshot: the directory must be there
  result,    ///< its result, which the store has too
};

/// The run that is meant, in this order: an existing path (of a folder that is no run directory only when no run is
/// called so), an id, the only id that begins so, a name (its newest run),
/// `@last` (the newest run); all but a path may end with `/unlimited`. Runs are those of the runs directory and of the
/// store. Errors: `usage`, with the runs that come near; `io` when the store cannot be read and no kept run is meant.
[[nodiscard]] Result<RunPlace> resolve_run(const std::string& argument, RunPart part);

/// The path that is meant: `-` (the standard input), or what resolve_run finds.
[[nodiscard]] Result<std::string> resolve_run_or_file(const std::string& argument);

}  // namespace ullage::cli
