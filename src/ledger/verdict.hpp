// SPDX-License-Identifier: Apache-2.0
// Whether a peak fits a device (docs: `fits`, `tight`, `oom`).
#pragma once

#include <cstdint>

namespace ullage::ledger {

enum class Verdict : std::uint8_t { fits, tight, oom };
const char* name_of(Verdict verdict);

struct Headroom {
  Verdict verdict = Verdict::fits;
  std::uint64_t left_bytes = 0;     ///< capacity less reserve less peak; 0 when it does not fit
  std::uint64_t missing_bytes = 0;  ///< what is missing when it does not fit, else 0
  double fraction = 0;              ///< left_bytes as a share of the capacity
};

/// `oom` when the used peak is over the capacity less the reserve; `tight` when less than `headroom_fraction` of the
/// capacity is left; else `fits`. `reserve_bytes` is what the user keeps free for things that are not in the peak.
Headroom judge(std::uint64_t capacity_bytes, std::uint64_t used_peak_bytes, double headroom_fraction,
               std::uint64_t reserve_bytes);

}  // namespace ullage::ledger
