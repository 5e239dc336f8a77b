// SPDX-License-Identifier: Apache-2.0
// What a run did to files, in memory: the marks of the journal, by path. No file system.
#pragma once

#include "base/file_journal.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ullage::files {

class Marks {
 public:
  void apply(const FileRecord& record);
  /// The mark of the path itself.
  [[nodiscard]] FileMark of(const std::string& path) const;
  /// The path or a folder above it was created by the run.
  [[nodiscard]] bool created(std::string_view path) const;
  /// Marked paths that lie below a folder, in no order.
  [[nodiscard]] std::vector<std::string> below(const std::string& folder) const;

 private:
  std::unordered_map<std::string, FileMark> marks_;
};

/// True for the folder itself and for what lies below it.
[[nodiscard]] bool lies_in(std::string_view path, std::string_view folder);

/// True when a list separated by colons names a folder in which the path lies, or when the path leads through a
/// folder `__pycache__`.
[[nodiscard]] bool written_through(std::string_view path, std::string_view folders);

[[nodiscard]] std::string_view parent_of(std::string_view path);

/// "db.sqlite" for "db.sqlite-wal", "-shm" and "-journal"; else nothing. A program that finds such a file beside a
/// database replays it, so that one belongs where the database is.
[[nodiscard]] std::string_view database_of(std::string_view path);

}  // namespace ullage::files
