// SPDX-License-Identifier: Apache-2.0
// Which file a path means to the script: symbolic links followed, in the files as the script sees them.
#pragma once

#include "virtual_gpu/files/marks.hpp"

#include <sys/stat.h>

#include <string>

namespace ullage::files {

struct Place {
  std::string path;      ///< absolute, without links (the last one too where links are followed)
  std::string physical;  ///< where it is: the same, or in the shadow
  FileMark mark = FileMark::none;
  mode_t type = 0;              ///< S_IFMT bits; 0: the script sees nothing there
  int error = 0;                ///< of the way there: ENOENT, ENOTDIR, ELOOP ...; EFAULT when there is no way
  bool elsewhere = false;       ///< the kernel would take the path as it was written for another file
  bool through_kernel = false;  ///< the way leads through a link of /proc, which need not name what it opens
};

/// `folder` is a descriptor or AT_FDCWD, `follow` whether a link at the end is followed.
[[nodiscard]] Place resolve(const Marks& marks, int folder, const char* path, bool follow);

/// The path of an open descriptor; empty when it has none.
[[nodiscard]] std::string path_of(int descriptor);

/// What a call may do with a place.
enum class Standing {
  absent,    ///< the script sees nothing there
  free,      ///< made by the run, written through, a device, or in the shadow below a folder that is there
  shadowed,  ///< the script's version is in the shadow
  existing,  ///< was there before the run: file, link or folder
};

[[nodiscard]] Standing standing(const Marks& marks, const Place& place);

/// A file, link or folder is on the disk at that path, seen by the script or not.
[[nodiscard]] bool on_disk(const std::string& path);

}  // namespace ullage::files
