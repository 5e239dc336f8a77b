// SPDX-License-Identifier: Apache-2.0
// The facts that an out-of-memory text states. PyTorch prints sizes rounded to two decimals (format_size in
// c10/util/Exception and the allocators), so every size here has the interval of the values that print like it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::ingest {

/// A size as printed, `774.00 MiB`, and the bytes that it stands for: low <= true value <= high.
struct PrintedSize {
  std::string printed;
  std::uint64_t bytes = 0;  ///< the printed value itself, to the nearest byte
  std::uint64_t low = 0, high = 0;
  [[nodiscard]] bool exact() const { return low == high; }
};

/// A difference or sum of sizes: all that is certain is that it lies in [low, high]. Bytes.
struct SizeInterval {
  std::int64_t low = 0, high = 0;
};

enum class OomBackend : std::uint8_t { cuda, hip, xpu, npu, mps, cpu, other };
const char* name_of(OomBackend backend);

/// Memory that the text says a process holds. `bytes` is absent where the number cannot be true (0 in containers, 2^64
/// in WSL, more than the device has).
struct ProcessMemory {
  std::string pid;  ///< as printed
  std::optional<PrintedSize> bytes;
  std::string printed;
};

/// One message. Absent is what its wording does not state.
struct OomMessage {
  OomBackend backend = OomBackend::other;
  std::string wording;       ///< which grammar: F1, F2, F3-capacty, F3, F3-pools, short, async, mps, cpu ...
  std::string torch;         ///< the versions that write this wording; empty when it does not tell
  std::optional<int> gpu;    ///< index of the device
  std::optional<int> rank;   ///< from the launcher's prefix
  std::string origin;        ///< the launcher's prefix as printed
  std::uint64_t line = 0;    ///< of the log, from 1
  std::uint64_t offset = 0;  ///< of that line in the (decompressed) log, in bytes
  std::uint64_t times = 1;   ///< how often the log repeats it
  bool cut = false;          ///< the text breaks off where the wording goes on

  std::optional<PrintedSize> requested, capacity, allocated, free, in_use, limit;
  std::optional<PrintedSize> reserved_total;     ///< stated as one number (1.4 to 2.0)
  std::optional<PrintedSize> unallocated;        ///< reserved but unallocated; "cached" before 1.4
  std::optional<PrintedSize> private_pools;      ///< idle in them; PyTorch counts it into `allocated`
  std::optional<PrintedSize> active;             ///< NPU
  std::optional<PrintedSize> other_allocations;  ///< MPS
  std::vector<ProcessMemory> processes;          ///< other processes
  std::string in_use_printed;                    ///< of this process, where the number cannot be true
  std::string variable;                          ///< the environment variable that the advice names; may be empty

  /// Reserved by PyTorch: stated, or allocated + unallocated.
  [[nodiscard]] std::optional<PrintedSize> reserved() const;
  /// Capacity - free - reserved: context, communication, other libraries and other processes.
  [[nodiscard]] std::optional<SizeInterval> outside_pytorch() const;
  /// In use by this process - reserved: its context, communication and other libraries.
  [[nodiscard]] std::optional<SizeInterval> own_outside_pytorch() const;
  /// Capacity - free - in use by this process.
  [[nodiscard]] std::optional<SizeInterval> other_processes() const;
};

/// The unit as PyTorch prints it: `GiB` for `gib`.
std::string printed_unit(const std::string& unit);

/// A printed number and unit in lower case (`14.9`, `GiB`) as a size; nothing when it is none or over 2^58.
/// KB, MB and GB are powers of two, as in PyTorch's MPS allocator. Half a unit of the last printed digit goes either
/// way; `bytes` is exact.
std::optional<PrintedSize> printed_size(const std::string& number, const std::string& unit);

}  // namespace ullage::ingest
