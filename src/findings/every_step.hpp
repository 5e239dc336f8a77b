// SPDX-License-Identifier: Apache-2.0
// Transfers and waits that come back in every step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "findings/subject.hpp"

namespace ullage::findings {

/// What one line of code does in each of the last two steps: the smaller of both counts and bytes.
struct EveryStep {
  std::string line;
  std::uint64_t pageable = 0, pageable_bytes = 0;  ///< copies to the device from pageable memory
  std::uint64_t repeated = 0, repeated_bytes = 0;  ///< copies to the device that brought the same bytes again
  std::uint64_t down_bytes = 0;                    ///< of copies to the host
  std::uint64_t waits = 0;                         ///< for the device, those of copies to the device not counted
};

/// By line, in their order. Empty for fewer than two steps.
std::vector<EveryStep> in_every_step(const Subject& subject);

}  // namespace ullage::findings
