// SPDX-License-Identifier: Apache-2.0
// Paths, without exceptions.
#pragma once

#include <filesystem>
#include <system_error>

namespace ullage::cli {

/// Absolute, without `.` and `..`; as it is where the working directory is gone.
[[nodiscard]] inline std::filesystem::path full_path(const std::filesystem::path& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return (error ? path : absolute).lexically_normal();
}

/// /tmp where TMPDIR names no folder.
[[nodiscard]] inline std::filesystem::path temporary_folder() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : folder;
}

}  // namespace ullage::cli
