// SPDX-License-Identifier: Apache-2.0
#include "launch/execute.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ullage {
namespace {

void change_environment(const std::map<std::string, std::optional<std::string>>& environment) {
  for (const auto& [name, value] : environment)
    value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
}

}  // namespace

Error execute(const std::vector<std::string>& argv,
              const std::map<std::string, std::optional<std::string>>& environment) {
  if (argv.empty()) return {ErrorKind::usage, "a command to run is missing", {}, "-- COMMAND ...", {}};
  change_environment(environment);
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  if (errno == ENOENT)
    return {ErrorKind::usage, "command not found", "'" + argv[0] + "'", {}, "is it installed, and in PATH?"};
  return {ErrorKind::usage, "the command cannot be executed", "'" + argv[0] + "'", {}, std::strerror(errno)};
}

}  // namespace ullage
