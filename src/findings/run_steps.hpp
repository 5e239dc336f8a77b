// SPDX-License-Identifier: Apache-2.0
// What a run tells of its steps without a history of allocations: what every recording has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attribution/facts.hpp"
#include "ledger/phases.hpp"

namespace ullage::findings {

/// A step whose times are the training's own.
struct StepTime {
  std::uint32_t step = 0;
  double seconds = 0;         ///< from the end of the step before
  double waited_seconds = 0;  ///< of these, for batches of a DataLoader
};

/// One process of several.
struct RankFigures {
  std::uint32_t rank = 0;
  std::uint64_t peak_allocated = 0;  ///< bytes
  std::string where;                 ///< of the peak: "step 3 backward"
  double tokens_per_step = 0;        ///< 0: not told
};

/// What is not known is empty. All that it points to must outlive it.
struct RunSteps {
  std::span<const ledger::Mark> marks;  ///< of the whole run
  std::vector<ledger::Phase> phases;    ///< measured by them
  bool recorded = false;                ///< on a device that computes; else times mean nothing
  std::vector<StepTime> times;          ///< in the order of steps
  std::span<const attribution::KeptGradients> kept_gradients;
  std::span<const attribution::Loader> loaders;
  std::uint64_t host_bytes = 0;  ///< that the run's processes held at most, pinned memory apart
  std::vector<RankFigures> ranks;
};

/// Bytes that were allocated at the end of each step, in their order. A step of several optimizers ends with the last.
std::vector<double> allocated_after_steps(std::span<const ledger::Mark> marks);

}  // namespace ullage::findings
