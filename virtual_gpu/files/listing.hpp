// SPDX-License-Identifier: Apache-2.0
// What is in a folder.
#pragma once

#include "virtual_gpu/files/marks.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ullage::files {

/// The names on the disk, without . and ..; nothing when the folder cannot be read.
[[nodiscard]] std::optional<std::vector<std::string>> names_in(const std::string& folder);
/// The script sees nothing in this folder that was there before the run.
[[nodiscard]] bool looks_empty(const Marks& marks, const std::string& folder);
/// The mark of a path that the script has removed: what is on the disk under that name stays.
[[nodiscard]] FileMark gone(const std::string& path);

}  // namespace ullage::files
