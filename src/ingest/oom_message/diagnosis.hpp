// SPDX-License-Identifier: Apache-2.0
// What kind of failure an out-of-memory text describes. The text lacks the free blocks, streams and pools, so that most
// kinds can only be said to be possible.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/oom_message/oom_message.hpp"

namespace ullage::ingest {

enum class FailureKind : std::uint8_t {
  impossible_request,  ///< larger than the whole device
  true_capacity,       ///< PyTorch holds what there is, and uses it
  fragmentation,       ///< enough is reserved and idle, but not in one piece
  private_pool_idle,   ///< the idle memory lies in the pools of CUDA graphs
  other_process,
  non_pytorch_growth,  ///< context, communication or other libraries of this process
  fraction_limit,      ///< a limit below the device's memory
  driver_fault,        ///< refused although much more is free
  host_memory,         ///< the machine's memory, not the device's
  unknown,
};
const char* name_of(FailureKind kind);   ///< `impossible_request`
const char* title_of(FailureKind kind);  ///< "one absurd request"

/// Something to try, and the bytes it would give back, as far as they are known.
struct FirstChange {
  std::string text;
  std::optional<SizeInterval> saves;
};

struct Diagnosis {
  FailureKind kind = FailureKind::unknown;
  bool certain = false;
  std::string reason;               ///< one sentence with the numbers that lead there
  std::vector<std::string> beside;  ///< what else is remarkable
  FirstChange change;
};

/// The first rule that holds decides: larger than the device; a stated limit; other processes that hold what is
/// missing; twice the request is free; idle memory of at least the request and a twentieth of what is reserved; memory
/// outside PyTorch of at least 2 GiB and a tenth of the device that would suffice; else plain lack of memory.
Diagnosis diagnose(const OomMessage& message);

}  // namespace ullage::ingest
