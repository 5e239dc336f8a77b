// SPDX-License-Identifier: Apache-2.0
#include "launch/descendants.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace ullage {
namespace {

std::optional<pid_t> as_number(std::string_view text) {
  pid_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The parent of a living process. /proc/PID/stat is "PID (name) STATE PARENT ..."; the name may hold anything.
std::optional<pid_t> parent_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= line.size()) return std::nullopt;
  const char state = line[name_end + 2];
  if (state == 'Z' || state == 'X') return std::nullopt;
  const std::string_view rest = std::string_view(line).substr(name_end + 4);
  return as_number(rest.substr(0, rest.find(' ')));
}

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> result;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto pid = as_number(entry->path().filename().string());
    const auto parent = pid ? parent_of(entry->path()) : std::nullopt;
    if (parent) result.emplace(*parent, *pid);
  }
  return result;
}

}  // namespace

std::vector<pid_t> living_descendants() {
  const auto children = children_by_parent();
  std::vector<pid_t> found{getpid()};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const auto [begin, end] = children.equal_range(found[next]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

void send_signal(const std::vector<pid_t>& processes, int number) {
  for (const pid_t process : processes) {
    kill(process, number);
    if (number == SIGTERM) kill(process, SIGCONT);  // a stopped process does not see the request
  }
}

Reaper::Reaper() {
  prctl(PR_GET_CHILD_SUBREAPER, &before_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Reaper::~Reaper() {
  prctl(PR_SET_CHILD_SUBREAPER, before_);
}

}  // namespace ullage
