// SPDX-License-Identifier: Apache-2.0
// A file that a command writes: it appears whole or not at all.
#pragma once

#include "base/result.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace ullage::cli {

/// Where a result goes that may be large: standard output, or a file that gets its name when it is complete.
class ResultFile {
 public:
  /// `-` is standard output; a device or a pipe is written to directly. Errors: `usage` for a folder, and for a file
  /// that is there unless `replace`; `io`.
  static Result<ResultFile> open(const std::string& path, bool replace);

  ResultFile(ResultFile&& other) noexcept;
  ResultFile& operator=(ResultFile&&) = delete;
  ResultFile(const ResultFile&) = delete;
  ~ResultFile();  ///< what was not kept is removed

  /// After a failure nothing more is written; keep() tells.
  void write(std::string_view text);
  /// Gives the file its name. Errors: `io`, also of an earlier write.
  [[nodiscard]] Result<void> keep();

 private:
  ResultFile(std::FILE* file, std::string partial, std::string path)
      : file_(file), partial_(std::move(partial)), path_(std::move(path)) {}

  std::FILE* file_ = nullptr;
  std::string partial_;  ///< its name until it is complete; empty when written to directly
  std::string path_;
  int error_ = 0;  ///< of the first write that failed
};

}  // namespace ullage::cli
