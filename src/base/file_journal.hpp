// SPDX-License-Identifier: Apache-2.0
// The journal of the user's files that a rehearsed script touched: files/journal in a run directory, append-only, one
// record a line: a letter, a space, an absolute path in which a backslash and a line break are written \\ and \n. The
// last record of a path holds. Written by virtual_gpu/files, read by it and by the launcher.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ullage {

enum class FileMark : char {
  none = 'N',      ///< as on the disk; takes an earlier record back
  created = 'C',   ///< made by the run, where the script put it; what lies below a created folder is created too
  shadowed = 'S',  ///< the script's version is files/shadow/PATH
  deleted = 'D',   ///< still there, but the script does not see it
};

struct FileRecord {
  FileMark mark = FileMark::none;
  std::string path;
};

/// One line, with its end.
[[nodiscard]] std::string journal_line(FileMark mark, std::string_view path);

/// Appends the records of the complete lines of `text`; gives the number of bytes they take. Lines that are none are
/// left out.
std::size_t read_journal(std::string_view text, std::vector<FileRecord>& records);

}  // namespace ullage
