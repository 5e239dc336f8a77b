// SPDX-License-Identifier: Apache-2.0
// chmod, chown, utime, extended attributes: those of an existing file stay, and the call says that it went well.
#include "virtual_gpu/files/next.hpp"

#include <sys/time.h>
#include <sys/types.h>
#include <utime.h>

#include <cstddef>

namespace {

using namespace ullage::files;

template <class Call>
int change(int folder, const char* path, bool follows, const Call& call) {
  if (path == nullptr) return call(path);  // utimensat of a descriptor
  return changing(
      path, [&] { return route_change(folder, path, follows); }, call);
}

template <class Call>
int change_open(int descriptor, const Call& call) {
  bool keep = false;
  if (active()) {
    const ErrnoKept kept;
    keep = keeps_attributes(descriptor);
  }
  return keep ? 0 : call();
}

bool follows(int flags) {
  return (flags & AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

ULLAGE_REPLACES(int, chmod, const char* path, mode_t mode) {
  return change(AT_FDCWD, path, true,
                [&](const char* to) { return ULLAGE_NEXT(int(const char*, mode_t), chmod)(to, mode); });
}

ULLAGE_REPLACES(int, lchmod, const char* path, mode_t mode) {
  return change(AT_FDCWD, path, false,
                [&](const char* to) { return ULLAGE_NEXT(int(const char*, mode_t), lchmod)(to, mode); });
}

ULLAGE_REPLACES(int, fchmodat, int folder, const char* path, mode_t mode, int flags) {
  return change(folder, path, follows(flags), [&](const char* to) {
    return ULLAGE_NEXT(int(int, const char*, mode_t, int), fchmodat)(folder, to, mode, flags);
  });
}

ULLAGE_REPLACES(int, fchmod, int descriptor, mode_t mode) {
  return change_open(descriptor, [&] { return ULLAGE_NEXT(int(int, mode_t), fchmod)(descriptor, mode); });
}

ULLAGE_REPLACES(int, chown, const char* path, uid_t user, gid_t group) {
  return change(AT_FDCWD, path, true,
                [&](const char* to) { return ULLAGE_NEXT(int(const char*, uid_t, gid_t), chown)(to, user, group); });
}

ULLAGE_REPLACES(int, lchown, const char* path, uid_t user, gid_t group) {
  return change(AT_FDCWD, path, false,
                [&](const char* to) { return ULLAGE_NEXT(int(const char*, uid_t, gid_t), lchown)(to, user, group); });
}

ULLAGE_REPLACES(int, fchownat, int folder, const char* path, uid_t user, gid_t group, int flags) {
  return change(folder, path, follows(flags), [&](const char* to) {
    return ULLAGE_NEXT(int(int, const char*, uid_t, gid_t, int), fchownat)(folder, to, user, group, flags);
  });
}

ULLAGE_REPLACES(int, fchown, int descriptor, uid_t user, gid_t group) {
  return change_open(descriptor, [&] { return ULLAGE_NEXT(int(int, uid_t, gid_t), fchown)(descriptor, user, group); });
}

ULLAGE_REPLACES(int, utime, const char* path, const struct utimbuf* times) {
  return change(AT_FDCWD, path, true,
                [&](const char* to) { return ULLAGE_NEXT(int(const char*, const struct utimbuf*), utime)(to, times); });
}

ULLAGE_REPLACES(int, utimes, const char* path, const struct timeval* times) {
  return change(AT_FDCWD, path, true, [&](const char* to) {
    return ULLAGE_NEXT(int(const char*, const struct timeval*), utimes)(to, times);
  });
}

ULLAGE_REPLACES(int, lutimes, const char* path, const struct timeval* times) {
  return change(AT_FDCWD, path, false, [&](const char* to) {
    return ULLAGE_NEXT(int(const char*, const struct timeval*), lutimes)(to, times);
  });
}

ULLAGE_REPLACES(int, futimesat, int folder, const char* path, const struct timeval* times) {
  return change(folder, path, true, [&](const char* to) {
    return ULLAGE_NEXT(int(int, const char*, const struct timeval*), futimesat)(folder, to, times);
  });
}

ULLAGE_REPLACES(int, utimensat, int folder, const char* path, const struct timespec* times, int flags) {
  return change(folder, path, follows(flags), [&](const char* to) {
    return ULLAGE_NEXT(int(int, const char*, const struct timespec*, int), utimensat)(folder, to, times, flags);
  });
}

ULLAGE_REPLACES(int, futimens, int descriptor, const struct timespec* times) {
  return change_open(descriptor,
                     [&] { return ULLAGE_NEXT(int(int, const struct timespec*), futimens)(descriptor, times); });
}

ULLAGE_REPLACES(int, futimes, int descriptor, const struct timeval* times) {
  return change_open(descriptor,
                     [&] { return ULLAGE_NEXT(int(int, const struct timeval*), futimes)(descriptor, times); });
}

ULLAGE_REPLACES(int, setxattr, const char* path, const char* name, const void* value, std::size_t size, int flags) {
  return change(AT_FDCWD, path, true, [&](const char* to) {
    return ULLAGE_NEXT(int(const char*, const char*, const void*, std::size_t, int), setxattr)(to, name, value, size,
                                                                                               flags);
  });
}

ULLAGE_REPLACES(int, lsetxattr, const char* path, const char* name, const void* value, std::size_t size, int flags) {
  return change(AT_FDCWD, path, false, [&](const char* to) {
    return ULLAGE_NEXT(int(const char*, const char*, const void*, std::size_t, int), lsetxattr)(to, name, value, size,
                                                                                                flags);
  });
}

ULLAGE_REPLACES(int, removexattr, const char* path, const char* name) {
  return change(AT_FDCWD, path, true,
                [&](const char* to) { return ULLAGE_NEXT(int(const char*, const char*), removexattr)(to, name); });
}

ULLAGE_REPLACES(int, lremovexattr, const char* path, const char* name) {
  return change(AT_FDCWD, path, false,
                [&](const char* to) { return ULLAGE_NEXT(int(const char*, const char*), lremovexattr)(to, name); });
}
