// SPDX-License-Identifier: Apache-2.0
// rename, unlink, mkdir, links and their kin.
#include "virtual_gpu/files/next.hpp"

#include <sys/types.h>

#include <string>

namespace {

using namespace ullage::files;

int rename_routed(int old_folder, const char* old_path, int new_folder, const char* new_path, unsigned flags) {
  return changing(
      old_path, [&] { return route_rename(old_folder, old_path, new_folder, new_path, flags); },
      [&](const char*) {
        if (flags == 0)
          return ULLAGE_NEXT(int(int, const char*, int, const char*), renameat)(old_folder, old_path, new_folder,
                                                                                new_path);
        return ULLAGE_NEXT(int(int, const char*, int, const char*, unsigned), renameat2)(old_folder, old_path,
                                                                                         new_folder, new_path, flags);
      });
}

int unlink_routed(int folder, const char* path, int flags) {
  const auto route = [&] {
    return (flags & AT_REMOVEDIR) != 0 ? route_rmdir(folder, path) : route_unlink(folder, path);
  };
  return changing(path, route,
                  [&](const char* to) { return ULLAGE_NEXT(int(int, const char*, int), unlinkat)(folder, to, flags); });
}

int mkdir_routed(int folder, const char* path, mode_t mode) {
  return changing(
      path, [&] { return route_mkdir(folder, path); },
      [&](const char* to) { return ULLAGE_NEXT(int(int, const char*, mode_t), mkdirat)(folder, to, mode); });
}

int link_routed(int old_folder, const char* old_path, int new_folder, const char* new_path, int flags) {
  std::string from;
  const auto route = [&] {
    return route_link(old_folder, old_path, (flags & AT_SYMLINK_FOLLOW) != 0, new_folder, new_path, &from);
  };
  return changing(new_path, route, [&](const char* to) {
    return ULLAGE_NEXT(int(int, const char*, int, const char*, int), linkat)(
        old_folder, from.empty() ? old_path : from.c_str(), new_folder, to, flags);
  });
}

int symlink_routed(const char* target, int folder, const char* path) {
  return changing(
      path, [&] { return route_make(folder, path); },
      [&](const char* to) { return ULLAGE_NEXT(int(const char*, int, const char*), symlinkat)(target, folder, to); });
}

int node_routed(int folder, const char* path, mode_t mode, dev_t device) {
  return changing(
      path, [&] { return route_make(folder, path); },
      [&](const char* to) {
        return ULLAGE_NEXT(int(int, const char*, mode_t, dev_t), mknodat)(folder, to, mode, device);
      });
}

}  // namespace

ULLAGE_REPLACES(int, rename, const char* old_path, const char* new_path) {
  return rename_routed(AT_FDCWD, old_path, AT_FDCWD, new_path, 0);
}

ULLAGE_REPLACES(int, renameat, int old_folder, const char* old_path, int new_folder, const char* new_path) {
  return rename_routed(old_folder, old_path, new_folder, new_path, 0);
}

ULLAGE_REPLACES(int, renameat2, int old_folder, const char* old_path, int new_folder, const char* new_path,
                unsigned flags) {
  return rename_routed(old_folder, old_path, new_folder, new_path, flags);
}

ULLAGE_REPLACES(int, unlink, const char* path) {
  return unlink_routed(AT_FDCWD, path, 0);
}

ULLAGE_REPLACES(int, unlinkat, int folder, const char* path, int flags) {
  return unlink_routed(folder, path, flags);
}

ULLAGE_REPLACES(int, rmdir, const char* path) {
  return unlink_routed(AT_FDCWD, path, AT_REMOVEDIR);
}

/// As libc's: a file, else a folder.
ULLAGE_REPLACES(int, remove, const char* path) {
  if (unlink_routed(AT_FDCWD, path, 0) == 0) return 0;
  return errno == EISDIR || errno == EPERM ? unlink_routed(AT_FDCWD, path, AT_REMOVEDIR) : -1;
}

ULLAGE_REPLACES(int, mkdir, const char* path, mode_t mode) {
  return mkdir_routed(AT_FDCWD, path, mode);
}

ULLAGE_REPLACES(int, mkdirat, int folder, const char* path, mode_t mode) {
  return mkdir_routed(folder, path, mode);
}

ULLAGE_REPLACES(int, link, const char* old_path, const char* new_path) {
  return link_routed(AT_FDCWD, old_path, AT_FDCWD, new_path, 0);
}

ULLAGE_REPLACES(int, linkat, int old_folder, const char* old_path, int new_folder, const char* new_path, int flags) {
  return link_routed(old_folder, old_path, new_folder, new_path, flags);
}

ULLAGE_REPLACES(int, symlink, const char* target, const char* path) {
  return symlink_routed(target, AT_FDCWD, path);
}

ULLAGE_REPLACES(int, symlinkat, const char* target, int folder, const char* path) {
  return symlink_routed(target, folder, path);
}

ULLAGE_REPLACES(int, mkfifo, const char* path, mode_t mode) {
  return node_routed(AT_FDCWD, path, mode | S_IFIFO, 0);
}

ULLAGE_REPLACES(int, mkfifoat, int folder, const char* path, mode_t mode) {
  return node_routed(folder, path, mode | S_IFIFO, 0);
}
