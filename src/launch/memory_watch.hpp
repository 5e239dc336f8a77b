// SPDX-License-Identifier: Apache-2.0
// How much host memory the processes of a command hold, looked up in /proc while they run.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ullage {

/// One process at one moment. Bytes of resident pages.
struct ProcessMemory {
  pid_t pid = 0;
  std::string name;                 ///< as the kernel shows it: "python", "pt_data_worker"
  std::uint64_t anonymous = 0;      ///< heap, stacks, private maps
  std::uint64_t mapped_files = 0;   ///< programs, libraries, files read through mmap
  std::uint64_t shared_memory = 0;  ///< POSIX and System V shared memory
  std::uint64_t shared = 0;         ///< of anonymous and shared_memory: what other processes are charged with
  std::uint64_t common = 0;         ///< of both: pages that other processes have too
  std::uint64_t peak_resident = 0;  ///< the kernel's own highest value so far (VmHWM)
};

/// All processes of the command at one moment; pages that several of them share are counted once.
struct MemoryMoment {
  std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint64_t anonymous = 0, shared_memory = 0;
  std::uint64_t mapped_files = 0;  ///< the largest process's: all of them map the same libraries
  std::vector<ProcessMemory> processes;
  [[nodiscard]] std::uint64_t bytes() const { return anonymous + shared_memory + mapped_files; }
};

/// What was seen while a command ran.
struct MemoryRecord {
  std::vector<MemoryMoment> highs;       ///< moments at which the sum was higher than ever before, in order
  std::vector<ProcessMemory> processes;  ///< each at its own highest, in order of appearance
  std::uint64_t looks = 0;               ///< how often the sum was taken
  std::chrono::nanoseconds cpu_time{0};  ///< what looking cost
};

/// Looks at the command's processes again and again, and spends at most about 0.5 % of a core on it: the dearer a look,
/// the later the next. Sizes of all known processes are read every 50 ms at best (/proc/PID/status). New processes and
/// what processes share (/proc/PID/smaps_rollup: shared pages in equal parts) are looked up less often; until its first
/// such reading a new process counts only with what it has beyond the largest of the others, as if it were a fork.
class MemoryWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// `processes` gives the living processes of the command; `folder` is /proc, or another one in tests.
  explicit MemoryWatch(std::function<std::vector<pid_t>()> processes, std::string folder = "/proc");

  /// Looks when it is time to.
  void look();
  /// Time until the next look.
  [[nodiscard]] std::chrono::milliseconds wait() const;
  [[nodiscard]] MemoryRecord take() { return std::move(record_); }

 private:
  void find_processes();
  void read_sizes();
  void read_shares(ProcessMemory& process) const;
  [[nodiscard]] std::uint64_t largest_of_others(pid_t pid) const;
  void keep_process(const ProcessMemory& process);
  void take_moment();

  std::function<std::vector<pid_t>()> list_;
  std::string folder_;
  std::map<pid_t, ProcessMemory> known_;
  MemoryRecord record_;
  Clock::time_point next_sizes_ = Clock::now();
  Clock::time_point next_processes_ = Clock::now();
};

}  // namespace ullage
