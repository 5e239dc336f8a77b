// SPDX-License-Identifier: Apache-2.0
#include "launch/memory_watch.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace ullage {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int least_share = 400;  // a look may take 1/400 of the time until the next; there are two kinds
constexpr milliseconds shortest_pause{50};
constexpr milliseconds shortest_search{200};

nanoseconds clock_value(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What stands after "KEY:" at the beginning of a line, without leading blanks.
std::string_view field(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    std::string_view rest = text.substr(at + key.size());
    rest = rest.substr(0, rest.find('\n'));
    const auto start = rest.find_first_not_of(" \t");
    return start == rest.npos ? std::string_view() : rest.substr(start);
  }
  return {};
}

std::uint64_t size_field(std::string_view text, std::string_view key) {
  const std::string_view value = field(text, key);
  std::uint64_t kib = 0;
  std::from_chars(value.data(), value.data() + value.size(), kib);
  return kib * 1024;
}

std::uint64_t difference(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

std::uint64_t resident(const ProcessMemory& process) {
  return process.anonymous + process.mapped_files + process.shared_memory;
}

// Runs `work` and gives the CPU time that it took.
template <class Work>
nanoseconds cost_of(Work work) {
  const nanoseconds before = clock_value(CLOCK_THREAD_CPUTIME_ID);
  work();
  return clock_value(CLOCK_THREAD_CPUTIME_ID) - before;
}

}  // namespace

MemoryWatch::MemoryWatch(std::function<std::vector<pid_t>()> processes, std::string folder)
    : list_(std::move(processes)), folder_(std::move(folder)) {}

void MemoryWatch::look() {
  const auto now = Clock::now();
  if (now >= next_processes_) {
    const nanoseconds cost = cost_of([this] { find_processes(); });
    record_.cpu_time += cost;
    next_processes_ = now + std::max<nanoseconds>(shortest_search, least_share * cost);
  }
  if (now < next_sizes_) return;
  const nanoseconds cost = cost_of([this] { read_sizes(); });
  record_.cpu_time += cost;
  next_sizes_ = now + std::max<nanoseconds>(shortest_pause, least_share * cost);
}

milliseconds MemoryWatch::wait() const {
  const auto left = std::min(next_sizes_, next_processes_) - Clock::now();
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(left));
}

void MemoryWatch::find_processes() {
  const std::vector<pid_t> living = list_();
  std::erase_if(known_, [&](const auto& item) { return std::ranges::find(living, item.first) == living.end(); });
  bool all_known = true;
  for (const pid_t pid : living) {
    const auto [it, is_new] = known_.try_emplace(pid);
    it->second.pid = pid;
    all_known = all_known && !is_new;
  }
  // All or none: equal parts belong together.
  for (auto& [pid, process] : known_) {
    if (known_.size() == 1) process.shared = process.common = 0;
    if (known_.size() > 1 && all_known) read_shares(process);
  }
}

// Equal parts of shared pages (PSS) leave to the others what this process is not charged with.
void MemoryWatch::read_shares(ProcessMemory& process) const {
  const std::string folder = folder_ + "/" + std::to_string(process.pid);
  const std::string rollup = text_of(folder + "/smaps_rollup"), status = text_of(folder + "/status");
  if (field(rollup, "Pss_Anon:").empty()) return;  // an old kernel, or a process of another user
  process.shared = difference(size_field(rollup, "Anonymous:"), size_field(rollup, "Pss_Anon:")) +
                   difference(size_field(status, "RssShmem:"), size_field(rollup, "Pss_Shmem:"));
  process.common = size_field(rollup, "Shared_Dirty:");  // of files, libraries mostly, pages are clean
}

void MemoryWatch::read_sizes() {
  for (auto it = known_.begin(); it != known_.end();) {
    ProcessMemory& process = it->second;
    const std::string status = text_of(folder_ + "/" + std::to_string(process.pid) + "/status");
    if (field(status, "VmHWM:").empty()) {  // it has ended
      it = known_.erase(it);
      continue;
    }
    const bool first = process.peak_resident == 0;
    process.name = std::string(field(status, "Name:"));
    process.anonymous = size_field(status, "RssAnon:");
    process.mapped_files = size_field(status, "RssFile:");
    process.shared_memory = size_field(status, "RssShmem:");
    process.peak_resident = std::max(process.peak_resident, size_field(status, "VmHWM:"));
    if (first) process.shared = process.common = std::min(process.anonymous, largest_of_others(process.pid));
    keep_process(process);
    ++it;
  }
  take_moment();
}

// What a forked process may have inherited, until it is read.
std::uint64_t MemoryWatch::largest_of_others(pid_t pid) const {
  std::uint64_t largest = 0;
  for (const auto& [other, process] : known_)
    if (other != pid) largest = std::max(largest, process.anonymous);
  return largest;
}

void MemoryWatch::keep_process(const ProcessMemory& process) {
  auto& kept = record_.processes;
  const auto it = std::ranges::find(kept, process.pid, &ProcessMemory::pid);
  if (it == kept.end()) {
    kept.push_back(process);
    return;
  }
  const std::uint64_t peak = std::max(it->peak_resident, process.peak_resident);
  if (difference(resident(process), process.common) >= difference(resident(*it), it->common)) *it = process;
  it->name = process.name;
  it->peak_resident = peak;
}

void MemoryWatch::take_moment() {
  ++record_.looks;
  MemoryMoment moment;
  for (const auto& [pid, process] : known_) {
    const std::uint64_t elsewhere = std::min(process.shared, process.anonymous + process.shared_memory);
    const std::uint64_t of_anonymous = std::min(elsewhere, process.anonymous);
    moment.anonymous += process.anonymous - of_anonymous;
    moment.shared_memory += process.shared_memory - (elsewhere - of_anonymous);
    moment.mapped_files = std::max(moment.mapped_files, process.mapped_files);
    moment.processes.push_back(process);
  }
  if (!record_.highs.empty() && moment.bytes() <= record_.highs.back().bytes()) return;
  moment.time_ns = static_cast<std::uint64_t>(clock_value(CLOCK_MONOTONIC).count());
  record_.highs.push_back(std::move(moment));
}

}  // namespace ullage
