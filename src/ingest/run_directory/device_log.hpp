// SPDX-License-Identifier: Apache-2.0
// Reads device.ulog, the virtual device's log (layout: base/ulog.hpp). Events are added up while reading, so that
// memory is proportional to the different keys, not to the events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/ulog.hpp"

namespace ullage::ingest {

using NameId = std::uint32_t;  ///< 0 is "none"

struct CopySum {
  ulog::Direction direction{};
  bool pinned = false;
  NameId line = 0;
  std::uint64_t count = 0, bytes = 0;
  std::uint64_t waited = 0;       ///< of count: the host waited for the stream right after, as a blocking copy does
  std::uint64_t duration_ns = 0;  ///< on the virtual clock
  std::uint64_t repeated = 0, repeated_bytes = 0;  ///< of these: bytes that this line copied between earlier marks
};

struct SyncSum {
  NameId function = 0, line = 0;
  std::uint64_t count = 0, waited_ns = 0;
};

struct UnknownReadSum {
  NameId line = 0;
  std::uint64_t count = 0, bytes = 0;
};

/// What happened between two marks.
struct LogInterval {
  std::optional<std::uint32_t> end_mark;  ///< ulog::Mark::index of the mark that ends it; none after the last
  std::vector<CopySum> copies;
  std::vector<SyncSum> syncs;
  std::vector<UnknownReadSum> unknown_reads;
  std::uint64_t launches = 0, gemms = 0;
  std::uint64_t gemm_flops = 0;    ///< 2 m n k batch; stays at 2^64 - 1 when it does not fit
  std::uint64_t device_bytes = 0;  ///< charged at its end, context and managed memory not included
  std::uint64_t pinned_bytes = 0;
};

struct StubSum {
  NameId library = 0, function = 0;
  std::uint64_t calls = 0;
};

struct CollectiveSum {
  NameId function = 0;
  std::uint64_t count = 0, bytes = 0;
};

/// Scratch memory of one purpose; its sizes are estimates of the stand-in, not the real library's.
struct WorkspaceSum {
  NameId purpose = 0;
  std::uint64_t count = 0;                                 ///< uses
  std::uint64_t bytes = 0, low_bytes = 0, high_bytes = 0;  ///< largest of each
};

struct DeviceLog {
  std::uint32_t pid = 0;
  std::map<NameId, std::string> names;
  std::vector<LogInterval> intervals;  ///< in order; the last has no end_mark
  std::vector<StubSum> stubs;
  std::vector<CollectiveSum> collectives;
  std::vector<WorkspaceSum> workspaces;
  std::uint64_t launches = 0, gemms = 0, gemm_flops = 0;
  std::uint64_t context_bytes = 0;
  std::uint64_t device_bytes = 0, device_peak_bytes = 0;  ///< context and managed memory not included
  std::uint64_t pinned_bytes = 0, pinned_peak_bytes = 0;
  std::uint64_t managed_bytes = 0;
  std::uint64_t ooms = 0;             ///< refused requests
  std::uint64_t last_oom_bytes = 0;   ///< the last of them
  std::uint64_t dropped_records = 0;  ///< by the writer
  std::uint64_t bad_records = 0;      ///< too short for their type; skipped
  std::optional<Error> damage;        ///< the log ends in the middle of a record
  [[nodiscard]] bool partial() const { return damage.has_value() || dropped_records > 0; }
  /// The text of a name; empty for 0 and unknown numbers.
  [[nodiscard]] std::string_view name(NameId id) const;
};

/// Errors (`bad_input`): no device log, or one of another version. A cut tail is no error: see `damage`.
Result<DeviceLog> read_device_log(std::span<const std::byte> input);

}  // namespace ullage::ingest
