// SPDX-License-Identifier: Apache-2.0
// fopen and its kin, which reach the kernel past open; temporary files, which do so too.
#include "virtual_gpu/files/next.hpp"

#include <cstdio>
#include <cstring>

namespace {

using namespace ullage::files;

/// The flags of open(2) that a mode of fopen stands for.
int flags_of(const char* mode) {
  const bool both = std::strchr(mode, '+') != nullptr;
  const int exclusive = std::strchr(mode, 'x') != nullptr ? O_EXCL : 0;
  if (mode[0] == 'r') return both ? O_RDWR : O_RDONLY;
  return (both ? O_RDWR : O_WRONLY) | O_CREAT | exclusive | (mode[0] == 'w' ? O_TRUNC : O_APPEND);
}

template <class Call>
FILE* open_stream(const char* path, const char* mode, const Call& call) {
  if (path == nullptr || mode == nullptr) return call(path);
  return changing(
      path, [&] { return route_open(AT_FDCWD, path, flags_of(mode)); }, call);
}

/// A name that libc has made.
template <class Result>
Result made(Result result, const char* path) {
  if (!is_failure(result) && active()) {
    const ErrnoKept kept;
    note_created(AT_FDCWD, path);
  }
  return result;
}

}  // namespace

ULLAGE_REPLACES(FILE*, fopen, const char* path, const char* mode) {
  return open_stream(path, mode,
                     [&](const char* to) { return ULLAGE_NEXT(FILE * (const char*, const char*), fopen)(to, mode); });
}

ULLAGE_REPLACES(FILE*, fopen64, const char* path, const char* mode) {
  return ullage_files_fopen(path, mode);
}

ULLAGE_REPLACES(FILE*, freopen, const char* path, const char* mode, FILE* stream) {
  return open_stream(path, mode, [&](const char* to) {
    return ULLAGE_NEXT(FILE * (const char*, const char*, FILE*), freopen)(to, mode, stream);
  });
}

ULLAGE_REPLACES(FILE*, freopen64, const char* path, const char* mode, FILE* stream) {
  return ullage_files_freopen(path, mode, stream);
}

ULLAGE_REPLACES(int, mkstemp, char* path) {
  return made(ULLAGE_NEXT(int(char*), mkstemp)(path), path);
}

ULLAGE_REPLACES(int, mkstemp64, char* path) {
  return made(ULLAGE_NEXT(int(char*), mkstemp)(path), path);
}

ULLAGE_REPLACES(int, mkostemp, char* path, int flags) {
  return made(ULLAGE_NEXT(int(char*, int), mkostemp)(path, flags), path);
}

ULLAGE_REPLACES(int, mkostemp64, char* path, int flags) {
  return made(ULLAGE_NEXT(int(char*, int), mkostemp)(path, flags), path);
}

ULLAGE_REPLACES(int, mkstemps, char* path, int suffix) {
  return made(ULLAGE_NEXT(int(char*, int), mkstemps)(path, suffix), path);
}

ULLAGE_REPLACES(int, mkstemps64, char* path, int suffix) {
  return made(ULLAGE_NEXT(int(char*, int), mkstemps)(path, suffix), path);
}

ULLAGE_REPLACES(int, mkostemps, char* path, int suffix, int flags) {
  return made(ULLAGE_NEXT(int(char*, int, int), mkostemps)(path, suffix, flags), path);
}

ULLAGE_REPLACES(int, mkostemps64, char* path, int suffix, int flags) {
  return made(ULLAGE_NEXT(int(char*, int, int), mkostemps)(path, suffix, flags), path);
}

ULLAGE_REPLACES(char*, mkdtemp, char* path) {
  return made(ULLAGE_NEXT(char*(char*), mkdtemp)(path), path);
}
