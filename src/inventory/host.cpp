// SPDX-License-Identifier: Apache-2.0
#include "inventory/host.hpp"

#include "base/text.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace ullage::inventory {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  const std::string_view word = trim(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end == word.data()) return std::nullopt;
  return value;
}

/// Every line of `KEY: VALUE` or `KEY VALUE`.
void each_pair(const std::string& text, char separator,
               const std::function<void(std::string_view, std::string_view)>& take) {
  for (const std::string& line : split(text, '\n')) {
    const auto cut = line.find(separator);
    if (cut == line.npos) continue;
    take(trim(std::string_view(line).substr(0, cut)), trim(std::string_view(line).substr(cut + 1)));
  }
}

/// The folders of the control group that this process is in, from its own up to the root of the hierarchy; where the
/// process sees only its own part, the upper ones are not there. `controller` is empty for version 2.
std::vector<std::string> group_folders(const std::string& root, std::string_view controller) {
  std::string path, base = root + "/sys/fs/cgroup";
  bool found = false;
  for (const std::string& line : split(text_of(root + "/proc/self/cgroup"), '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const auto controllers = split(parts[1], ',');
    if (std::ranges::find(controllers, controller) == controllers.end()) continue;
    path = line.substr(parts[0].size() + parts[1].size() + 2);
    found = true;
  }
  if (!found || path.find("..") != path.npos) path.clear();
  if (!controller.empty()) base += "/" + std::string(controller);
  std::vector<std::string> folders;
  for (; !path.empty() && path != "/"; path = fs::path(path).parent_path().string()) folders.push_back(base + path);
  folders.push_back(base);
  return folders;
}

/// A limit with what is used of it.
struct GroupMemory {
  std::uint64_t limit, used;
};

/// What the kernel would give back of `used` before it refuses: pages of files not used lately.
std::uint64_t reclaimable(const std::string& folder, std::string_view name) {
  std::uint64_t bytes = 0;
  each_pair(text_of(folder + "/memory.stat"), ' ', [&](std::string_view key, std::string_view value) {
    if (key == name) bytes = number_of(value).value_or(0);
  });
  return bytes;
}

std::vector<GroupMemory> group_limits(const std::string& root) {
  std::vector<GroupMemory> limits;
  const auto take = [&](const std::string& folder, const char* limit, const char* used, const char* inactive) {
    const auto most = number_of(text_of(folder + limit));
    if (!most) return;  // "max", or no such file
    const std::uint64_t in_use = number_of(text_of(folder + used)).value_or(0);
    limits.push_back({*most, in_use - std::min(in_use, reclaimable(folder, inactive))});
  };
  for (const std::string& folder : group_folders(root, ""))
    take(folder, "/memory.max", "/memory.current", "inactive_file");
  for (const std::string& folder : group_folders(root, "memory"))
    take(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file");
  return limits;
}

/// Processors' worth of time that the control group leaves.
double group_quota(const std::string& root, double threads) {
  const auto take = [&](std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
    if (quota && period && *quota > 0 && *period > 0)
      threads = std::min(threads, static_cast<double>(*quota) / static_cast<double>(*period));
  };
  for (const std::string& folder : group_folders(root, "")) {
    const auto parts = split(std::string(trim(text_of(folder + "/cpu.max"))), ' ');
    if (parts.size() == 2) take(number_of(parts[0]), number_of(parts[1]));
  }
  for (const std::string& folder : group_folders(root, "cpu"))
    take(number_of(text_of(folder + "/cpu.cfs_quota_us")), number_of(text_of(folder + "/cpu.cfs_period_us")));
  return threads;
}

std::uint64_t allowed_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint64_t>(CPU_COUNT(&set)) : 0;
}

}  // namespace

Processor processor(const std::string& root) {
  Processor result;
  std::set<std::pair<std::string, std::string>> cores;
  std::string package;
  each_pair(text_of(root + "/proc/cpuinfo"), ':', [&](std::string_view key, std::string_view value) {
    if (key == "processor") ++result.threads;
    if (key == "model name" && result.model.empty()) result.model = value;
    if (key == "physical id") package = value;
    if (key == "core id") cores.emplace(package, value);
  });
  result.cores = cores.size();
  const std::uint64_t allowed = root.empty() ? allowed_threads() : 0;
  result.usable_threads = group_quota(root, static_cast<double>(allowed > 0 ? allowed : result.threads));
  return result;
}

Result<HostMemory> host_memory(const std::string& root) {
  HostMemory memory;
  std::optional<std::uint64_t> total, available;
  each_pair(text_of(root + "/proc/meminfo"), ':', [&](std::string_view key, std::string_view value) {
    if (key == "MemTotal") total = number_of(value);
    if (key == "MemAvailable") available = number_of(value);
  });
  if (!total || !available)
    return fail(ErrorKind::unsupported, "the kernel does not tell how much memory there is", root + "/proc/meminfo",
                "MemTotal and MemAvailable");
  memory.total_bytes = *total * 1024;
  memory.available_bytes = *available * 1024;
  for (const GroupMemory& group : group_limits(root)) {
    if (group.limit >= memory.total_bytes) continue;
    memory.limit_bytes = std::min(memory.limit_bytes.value_or(group.limit), group.limit);
    memory.available_bytes = std::min(memory.available_bytes, group.limit - std::min(group.limit, group.used));
  }
  return memory;
}

Result<Disk> disk(const std::string& folder) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error) return fail(ErrorKind::io, "the file system does not tell its size: " + error.message(), folder);
  return Disk{folder, space.capacity, space.available};
}

}  // namespace ullage::inventory
