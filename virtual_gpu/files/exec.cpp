// SPDX-License-Identifier: Apache-2.0
// A program that is started with an environment of its own making is protected all the same.
#include <spawn.h>
#include <unistd.h>

#include "virtual_gpu/files/next.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace ullage::files;
using Exec = int(const char*, char* const*, char* const*);
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                  char* const*);

constexpr std::string_view preload = "LD_PRELOAD=", folder = "ULLAGE_FILES_DIR=", through = "ULLAGE_FILES_THROUGH=";

bool says(char* const* environment, std::string_view variable) {
  for (; *environment != nullptr; ++environment)
    if (std::string_view(*environment).starts_with(variable)) return true;
  return false;
}

/// Where this library was loaded from.
std::string own_path() {
  Dl_info found;
  const bool known = dladdr(reinterpret_cast<const void*>(&says), &found) != 0 && found.dli_fname != nullptr;
  return known ? found.dli_fname : "";
}

/// An environment with the variables that the protection needs. Used only where they are missing: in the child of a
/// vfork it allocates memory, which its parent never frees.
class Completed {
 public:
  explicit Completed(char* const* environment) {
    const Told now = told();
    texts_ = {std::string(preload) + own_path(), std::string(folder) + now.folder, std::string(through) + now.through};
    for (; *environment != nullptr; ++environment) take(*environment);
    for (auto& text : texts_) entries_.push_back(text.data());
    entries_.push_back(nullptr);
  }

  [[nodiscard]] char* const* get() const { return entries_.data(); }

 private:
  void take(char* entry) {
    const std::string_view text = entry;
    if (text.starts_with(preload))
      texts_[0] += ":" + std::string(text.substr(preload.size()));
    else if (!text.starts_with(folder) && !text.starts_with(through))
      entries_.push_back(entry);
  }

  std::vector<std::string> texts_;
  std::vector<char*> entries_;
};

template <class Call>
int started(char* const* environment, const Call& call) {
  const bool told_already =
      environment == nullptr || !active() || (says(environment, folder) && says(environment, preload));
  if (told_already) return call(environment);
  return call(Completed(environment).get());
}

}  // namespace

ULLAGE_REPLACES(int, execve, const char* path, char* const* arguments, char* const* environment) {
  return started(environment, [&](char* const* all) { return ULLAGE_NEXT(Exec, execve)(path, arguments, all); });
}

ULLAGE_REPLACES(int, execvpe, const char* path, char* const* arguments, char* const* environment) {
  return started(environment, [&](char* const* all) { return ULLAGE_NEXT(Exec, execvpe)(path, arguments, all); });
}

ULLAGE_REPLACES(int, execv, const char* path, char* const* arguments) {
  return started(environ, [&](char* const* all) { return ULLAGE_NEXT(Exec, execve)(path, arguments, all); });
}

ULLAGE_REPLACES(int, execvp, const char* path, char* const* arguments) {
  return started(environ, [&](char* const* all) { return ULLAGE_NEXT(Exec, execvpe)(path, arguments, all); });
}

ULLAGE_REPLACES(int, posix_spawn, pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  return started(environment, [&](char* const* all) {
    return ULLAGE_NEXT(Spawn, posix_spawn)(process, path, actions, attributes, arguments, all);
  });
}

ULLAGE_REPLACES(int, posix_spawnp, pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  return started(environment, [&](char* const* all) {
    return ULLAGE_NEXT(Spawn, posix_spawnp)(process, path, actions, attributes, arguments, all);
  });
}
