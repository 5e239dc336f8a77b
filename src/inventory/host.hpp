// SPDX-License-Identifier: Apache-2.0
// What this machine has besides GPUs: processor, memory, disk. Linux tells it in files.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ullage::inventory {

struct Processor {
  std::string model;          ///< empty when the kernel does not say
  std::uint64_t cores = 0;    ///< physical ones; 0 when not told
  std::uint64_t threads = 0;  ///< processors that the kernel runs
  double usable_threads = 0;  ///< of these, what affinity and the control group leave this process
};

struct HostMemory {
  std::uint64_t total_bytes = 0;             ///< of the machine
  std::uint64_t available_bytes = 0;         ///< without swapping, the limit kept
  std::optional<std::uint64_t> limit_bytes;  ///< of the control group, where it is below the total
};

struct Disk {
  std::string folder;
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< for this user
};

/// `root` stands for `/`, in tests for a folder with files of another machine.
[[nodiscard]] Processor processor(const std::string& root = {});
/// Errors: `unsupported` where /proc/meminfo cannot be read.
[[nodiscard]] Result<HostMemory> host_memory(const std::string& root = {});
/// The file system of a folder. Errors: `io`.
[[nodiscard]] Result<Disk> disk(const std::string& folder);

}  // namespace ullage::inventory
