// SPDX-License-Identifier: Apache-2.0
// Files that posix_spawn opens for a child, past open.
#include <spawn.h>

#include "virtual_gpu/files/next.hpp"

namespace {

using namespace ullage::files;
using AddOpen = int(posix_spawn_file_actions_t*, int, const char*, int, mode_t);

}  // namespace

/// The decision is made now, the opening later. Gives an errno.
ULLAGE_REPLACES(int, posix_spawn_file_actions_addopen, posix_spawn_file_actions_t* actions, int descriptor,
                const char* path, int flags, mode_t mode) {
  const auto add = [&](const char* to) {
    return -ULLAGE_NEXT(AddOpen, posix_spawn_file_actions_addopen)(actions, descriptor, to, flags, mode);
  };
  const int result = changing(
      path, [&] { return route_open(AT_FDCWD, path, flags); }, add);
  return result == -1 ? errno : -result;
}
