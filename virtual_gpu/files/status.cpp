// SPDX-License-Identifier: Apache-2.0
// stat, access, readlink and their kin. stat itself goes to the kernel: older libcs know it only as __xstat, which here
// is the same call.
#include "virtual_gpu/files/next.hpp"

#include "virtual_gpu/files/system.hpp"

#include <climits>
#include <cstdlib>
#include <cstring>

namespace {

using namespace ullage::files;
using Status = struct stat;

int status_routed(int folder, const char* path, Status* status, int flags) {
  return looking(folder, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, [&](const char* to) {
    return static_cast<int>(::syscall(SYS_newfstatat, folder, to, status, flags));
  });
}

int access_routed(int folder, const char* path, int wanted, int flags) {
  return looking(folder, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, [&](const char* to) {
    return ULLAGE_NEXT(int(int, const char*, int, int), faccessat)(folder, to, wanted, flags);
  });
}

ssize_t link_routed(int folder, const char* path, char* text, std::size_t size) {
  return looking(folder, path, false,
                 [&](const char* to) -> ssize_t { return ::syscall(SYS_readlinkat, folder, to, text, size); });
}

std::string resolved_path(const char* path, int* error) {
  const Store store;
  const Place place = resolve(store.marks(), AT_FDCWD, path, true);
  *error = place.error != 0 ? place.error : place.type == 0 ? ENOENT : 0;
  return place.path;
}

char* real_path(const char* path, char* text) {
  if (path == nullptr || !diverged()) return ULLAGE_NEXT(char*(const char*, char*), realpath)(path, text);
  int error = 0;
  const std::string found = resolved_path(path, &error);
  if (error == 0 && found.size() >= PATH_MAX) error = ENAMETOOLONG;
  if (error != 0) return failed<char*>(error);
  return text == nullptr ? strdup(found.c_str()) : std::strcpy(text, found.c_str());
}

}  // namespace

// The number is that of the layout of struct stat; 64-bit platforms have one.
#define ULLAGE_STATUS_CALLS(SUFFIX)                                                                        \
  ULLAGE_REPLACES(int, stat##SUFFIX, const char* path, Status* status) {                                   \
    return status_routed(AT_FDCWD, path, status, 0);                                                       \
  }                                                                                                        \
  ULLAGE_REPLACES(int, lstat##SUFFIX, const char* path, Status* status) {                                  \
    return status_routed(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);                                     \
  }                                                                                                        \
  ULLAGE_REPLACES(int, fstatat##SUFFIX, int folder, const char* path, Status* status, int flags) {         \
    return status_routed(folder, path, status, flags);                                                     \
  }                                                                                                        \
  ULLAGE_REPLACES(int, __xstat##SUFFIX, int, const char* path, Status* status) {                           \
    return status_routed(AT_FDCWD, path, status, 0);                                                       \
  }                                                                                                        \
  ULLAGE_REPLACES(int, __lxstat##SUFFIX, int, const char* path, Status* status) {                          \
    return status_routed(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);                                     \
  }                                                                                                        \
  ULLAGE_REPLACES(int, __fxstatat##SUFFIX, int, int folder, const char* path, Status* status, int flags) { \
    return status_routed(folder, path, status, flags);                                                     \
  }

ULLAGE_STATUS_CALLS()
ULLAGE_STATUS_CALLS(64)

ULLAGE_REPLACES(int, statx, int folder, const char* path, int flags, unsigned mask, void* status) {
  return looking(folder, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, [&](const char* to) {
    return ULLAGE_NEXT(int(int, const char*, int, unsigned, void*), statx)(folder, to, flags, mask, status);
  });
}

ULLAGE_REPLACES(int, access, const char* path, int wanted) {
  return access_routed(AT_FDCWD, path, wanted, 0);
}

ULLAGE_REPLACES(int, faccessat, int folder, const char* path, int wanted, int flags) {
  return access_routed(folder, path, wanted, flags);
}

ULLAGE_REPLACES(int, euidaccess, const char* path, int wanted) {
  return access_routed(AT_FDCWD, path, wanted, AT_EACCESS);
}

ULLAGE_REPLACES(int, eaccess, const char* path, int wanted) {
  return access_routed(AT_FDCWD, path, wanted, AT_EACCESS);
}

ULLAGE_REPLACES(ssize_t, readlink, const char* path, char* text, std::size_t size) {
  return link_routed(AT_FDCWD, path, text, size);
}

ULLAGE_REPLACES(ssize_t, __readlink_chk, const char* path, char* text, std::size_t size, std::size_t room) {
  if (size > room) std::abort();
  return link_routed(AT_FDCWD, path, text, size);
}

ULLAGE_REPLACES(ssize_t, readlinkat, int folder, const char* path, char* text, std::size_t size) {
  return link_routed(folder, path, text, size);
}

ULLAGE_REPLACES(ssize_t, __readlinkat_chk, int folder, const char* path, char* text, std::size_t size,
                std::size_t room) {
  if (size > room) std::abort();
  return link_routed(folder, path, text, size);
}

ULLAGE_REPLACES(char*, realpath, const char* path, char* text) {
  return real_path(path, text);
}

ULLAGE_REPLACES(char*, __realpath_chk, const char* path, char* text, std::size_t room) {
  if (room < PATH_MAX) std::abort();
  return real_path(path, text);
}

ULLAGE_REPLACES(char*, canonicalize_file_name, const char* path) {
  return real_path(path, nullptr);
}
