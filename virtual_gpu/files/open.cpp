// SPDX-License-Identifier: Apache-2.0
// open and its kin. _2: what open becomes in programs built with _FORTIFY_SOURCE.
#include "virtual_gpu/files/next.hpp"

#include <cstdarg>

namespace {

using namespace ullage::files;
using Open = int(int, const char*, int, ...);

bool has_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

int open_routed(int folder, const char* path, int flags, mode_t mode) {
  return changing(
      path, [&] { return route_open(folder, path, flags); },
      [&](const char* to) { return ULLAGE_NEXT(Open, openat)(folder, to, flags, mode); });
}

}  // namespace

#define ULLAGE_TAKE_MODE(MODE, FLAGS)                            \
  mode_t MODE = 0;                                               \
  if (has_mode(FLAGS)) {                                         \
    va_list arguments;                                           \
    va_start(arguments, FLAGS);                                  \
    MODE = static_cast<mode_t>(va_arg(arguments, unsigned int)); \
    va_end(arguments);                                           \
  }

ULLAGE_REPLACES(int, open, const char* path, int flags, ...) {
  ULLAGE_TAKE_MODE(mode, flags)
  return open_routed(AT_FDCWD, path, flags, mode);
}

ULLAGE_REPLACES(int, open64, const char* path, int flags, ...) {
  ULLAGE_TAKE_MODE(mode, flags)
  return open_routed(AT_FDCWD, path, flags, mode);
}

ULLAGE_REPLACES(int, openat, int folder, const char* path, int flags, ...) {
  ULLAGE_TAKE_MODE(mode, flags)
  return open_routed(folder, path, flags, mode);
}

ULLAGE_REPLACES(int, openat64, int folder, const char* path, int flags, ...) {
  ULLAGE_TAKE_MODE(mode, flags)
  return open_routed(folder, path, flags, mode);
}

ULLAGE_REPLACES(int, __open_2, const char* path, int flags) {
  return open_routed(AT_FDCWD, path, flags, 0);
}

ULLAGE_REPLACES(int, __open64_2, const char* path, int flags) {
  return open_routed(AT_FDCWD, path, flags, 0);
}

ULLAGE_REPLACES(int, __openat_2, int folder, const char* path, int flags) {
  return open_routed(folder, path, flags, 0);
}

ULLAGE_REPLACES(int, __openat64_2, int folder, const char* path, int flags) {
  return open_routed(folder, path, flags, 0);
}

ULLAGE_REPLACES(int, creat, const char* path, mode_t mode) {
  return open_routed(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

ULLAGE_REPLACES(int, creat64, const char* path, mode_t mode) {
  return open_routed(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

ULLAGE_REPLACES(int, truncate, const char* path, off_t length) {
  return changing(
      path, [&] { return route_open(AT_FDCWD, path, O_WRONLY); },
      [&](const char* to) { return ULLAGE_NEXT(int(const char*, off_t), truncate)(to, length); });
}

ULLAGE_REPLACES(int, truncate64, const char* path, off64_t length) {
  return ullage_files_truncate(path, length);
}
