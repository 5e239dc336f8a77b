// SPDX-License-Identifier: Apache-2.0
// What the processes of a rehearsal share about the user's files: the folder `files` of the run directory.
#pragma once

#include "virtual_gpu/files/marks.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ullage::files {

/// False in a process that was not started by a rehearsal, and while this thread is inside this library already (a
/// signal handler): then every call is the kernel's.
[[nodiscard]] bool active();

/// False as long as no process has shadowed or deleted anything: then what a script reads is what is on the disk. One
/// load from shared memory.
[[nodiscard]] bool diverged();

/// The variables of the environment that tell a process of this protection, as they are now.
struct Told {
  std::string folder, through;
};
[[nodiscard]] Told told();

/// For the time of one decision: the marks, up to date, and nobody else of this process at them.
class Store {
 public:
  Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  [[nodiscard]] const Marks& marks() const;
  /// Writes records for every process. Errors: errno, and nothing was written.
  [[nodiscard]] bool write(const std::vector<FileRecord>& records);
  bool write(FileMark mark, const std::string& path) { return write({{mark, path}}); }

  /// A path to make something at before it gets its own name; new at each call.
  [[nodiscard]] static std::string temporary();
  [[nodiscard]] static std::string shadow_of(const std::string& path);
  /// Folders whose files may be changed: caches, devices, the run directory.
  [[nodiscard]] static std::string_view through();
};

}  // namespace ullage::files
