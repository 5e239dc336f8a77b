// SPDX-License-Identifier: Apache-2.0
// What crossed between host and device in one step, and where the host waited.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ullage::ledger {

/// Copies of one kind within one step.
struct CopyLine {
  std::string direction;  ///< host_to_device or device_to_host
  bool pinned = false;
  std::string line;  ///< "file:line function"; empty when no Python code ran
  std::uint64_t count = 0, bytes = 0;
  std::uint64_t waited = 0;                        ///< of these: the host waited for them
  std::uint64_t repeated = 0, repeated_bytes = 0;  ///< of these: bytes that this line copied between earlier marks
};

/// Waits of the host for the device within one step.
struct SyncLine {
  std::string function;
  std::string line;
  std::uint64_t count = 0;
};

/// One optimizer step: from the end of the step before it to its own end; the first from its first forward.
struct StepTransfers {
  std::uint32_t step = 0;        ///< 0: the whole run, which had no optimizer step
  std::vector<CopyLine> copies;  ///< between host and device; the most bytes first
  std::vector<SyncLine> syncs;   ///< by function and line
};

}  // namespace ullage::ledger
