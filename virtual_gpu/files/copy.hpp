// SPDX-License-Identifier: Apache-2.0
// Copies of files and links. All give 0, or the errno of what failed; then nothing is left at the destination.
#pragma once

#include <string>

namespace ullage::files {

/// A copy with mode and times, at a path where nothing is. Shares blocks where the file system can; holes stay holes.
/// `contents` false: an empty file with the mode.
[[nodiscard]] int copy_file(const std::string& from, const std::string& to, bool contents = true);

/// A file or a link; to a path where something may be, which it replaces at once. `making`: a path to make it at first.
[[nodiscard]] int copy_over(const std::string& from, const std::string& to, const std::string& making);

/// Moves a file or a link; copies where it cannot be renamed.
[[nodiscard]] int move_over(const std::string& from, const std::string& to, const std::string& making);

/// The folders above a path.
[[nodiscard]] int make_parents(const std::string& path);

}  // namespace ullage::files
