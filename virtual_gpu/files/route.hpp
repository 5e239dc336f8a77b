// SPDX-License-Identifier: Apache-2.0
// What a call on a path is to do instead: the decisions of the protection, one function per kind of call. Each may copy
// and write records; the caller then makes the real call, and calls succeeded() when that went well.
//
// The rule: a file, link or folder that was there before the run stays as it is. The script's version of a file is in
// the shadow, and what it deletes it no longer sees.
#pragma once

#include "virtual_gpu/files/resolve.hpp"

#include <sys/types.h>

#include <cerrno>
#include <string>

namespace ullage::files {

struct Route {
  int error = 0;         ///< the call fails with this errno
  bool done = false;     ///< the call succeeds without the kernel
  std::string path;      ///< the call is made on this path, absolute; empty: on the path as it was given
  bool records = false;  ///< a call that succeeds is to be written down:
  FileRecord record{};   ///< what it changes
};

/// Errors: none; a record that cannot be written (a full disk) leaves a new file unknown, hence protected later.
void succeeded(const Route& route);

[[nodiscard]] Route route_read(int folder, const char* path, bool follow);
/// `flags` as for open(2).
[[nodiscard]] Route route_open(int folder, const char* path, int flags);
/// Mode, owner, times, attributes: those of an existing file stay.
[[nodiscard]] Route route_change(int folder, const char* path, bool follow);
/// Of an open descriptor.
[[nodiscard]] bool keeps_attributes(int descriptor);

[[nodiscard]] Route route_unlink(int folder, const char* path);
[[nodiscard]] Route route_rmdir(int folder, const char* path);
[[nodiscard]] Route route_mkdir(int folder, const char* path);
/// A new link, pipe or device file.
[[nodiscard]] Route route_make(int folder, const char* path);
/// Both ends of link(2): `path` of the answer is that of the new name, `from` replaces the old one where not empty.
[[nodiscard]] Route route_link(int old_folder, const char* old_path, bool follow, int new_folder, const char* new_path,
                               std::string* from);
/// Renames. An answer that is neither `done` nor an error: the call is made as it was given.
[[nodiscard]] Route route_rename(int old_folder, const char* old_path, int new_folder, const char* new_path,
                                 unsigned flags);

/// A new file in an existing folder (mkstemp) after it was made.
void note_created(int folder, const char* path);

// --- shared by the functions above ---

[[nodiscard]] inline Route failing(int error) {
  Route route;
  route.error = error;
  return route;
}

[[nodiscard]] inline Route finished() {
  Route route;
  route.done = true;
  return route;
}

/// The answer when the way to a place is barred: the kernel says it better, but not where only the script sees it so.
[[nodiscard]] inline Route barred(const Place& place) {
  return place.error == ENOENT ? failing(ENOENT) : Route{};
}

/// On the place where the script's version is.
[[nodiscard]] Route at(const Place& place);
/// A new name at a place where the script sees nothing. Errors: errno.
[[nodiscard]] Route making(const Marks& marks, const Place& place);
/// Errors: that of the real call, when the folder above may not be written.
[[nodiscard]] int may_change_name(const std::string& path);

}  // namespace ullage::files
