// SPDX-License-Identifier: Apache-2.0
// Folders are listed without what the script has deleted.
#include "virtual_gpu/files/next.hpp"

#include <dirent.h>

#include <cstring>
#include <string>

namespace {

using namespace ullage::files;
using ullage::FileMark;
using Read = struct dirent*(DIR*);

FileMark mark_of(const std::string& path) {
  const Store store;
  return store.marks().of(path);
}

bool is_dots(const char* name) {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

/// The folder is asked for each time: a DIR may be closed and its address used again.
FileMark mark_of_entry(DIR* folder, const char* name) {
  const std::string path = path_of(dirfd(folder));
  return path.empty() ? FileMark::none : mark_of((path == "/" ? "" : path) + "/" + name);
}

struct dirent* read_entry(DIR* folder) {
  for (;;) {
    struct dirent* entry = ULLAGE_NEXT(Read, readdir)(folder);
    if (entry == nullptr || !diverged() || is_dots(static_cast<const char*>(entry->d_name))) return entry;
    const ErrnoKept kept;
    const FileMark mark = mark_of_entry(folder, static_cast<const char*>(entry->d_name));
    if (mark == FileMark::deleted) continue;
    // In the shadow it may be of another kind.
    if (mark == FileMark::shadowed) entry->d_type = DT_UNKNOWN;
    return entry;
  }
}

DIR* open_folder(const char* path) {
  return looking(AT_FDCWD, path, true, [](const char* to) { return ULLAGE_NEXT(DIR * (const char*), opendir)(to); });
}

}  // namespace

ULLAGE_REPLACES(DIR*, opendir, const char* path) {
  return open_folder(path);
}

ULLAGE_REPLACES(struct dirent*, readdir, DIR* folder) {
  return read_entry(folder);
}

ULLAGE_REPLACES(struct dirent*, readdir64, DIR* folder) {
  return read_entry(folder);
}
