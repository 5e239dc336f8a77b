// SPDX-License-Identifier: Apache-2.0
// How high allocated memory was in the different parts of a run.
#pragma once

#include <cstdint>

#include "findings/subject.hpp"

namespace ullage::findings {

/// The highest allocated bytes of each part, and the event that reached it.
struct PartPeak {
  std::uint64_t bytes = 0;
  std::size_t event = 0;
};
struct PartPeaks {
  PartPeak load;                      ///< before the first forward
  PartPeak training;                  ///< forward and backward of steps
  PartPeak optimizer;                 ///< optimizer steps
  PartPeak evaluation;                ///< forwards in evaluation mode, or without gradients, of a run that trains
  PartPeak between;                   ///< from the end of a step to the next forward
  std::uint64_t after_optimizer = 0;  ///< the most that was allocated at the end of an optimizer step
};

/// All 0 for a run without optimizer steps, and for a source without marks.
PartPeaks part_peaks(const Subject& subject);

}  // namespace ullage::findings
