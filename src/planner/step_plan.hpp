// SPDX-License-Identifier: Apache-2.0
// A step program on a device: what PyTorch's allocator makes of it, when memory is fullest, and whose it is then.
#pragma once

#include "allocator/settings.hpp"
#include "ledger/chart.hpp"
#include "planner/program_ledger.hpp"
#include "program/folded.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::planner {

/// Where in a program something happens.
struct Moment {
  program::Phase phase = program::Phase::load;
  std::uint32_t step = 0, micro_batch = 0;  ///< as program::Mark
  std::string module;                       ///< model.layers.3.mlp; may be empty
  std::string operation;                    ///< aten::mm
};

/// One phase of one step. Bytes.
struct PhasePeak {
  program::Phase phase = program::Phase::load;
  std::uint32_t step = 0, micro_batch = 0;
  std::uint64_t allocated = 0, reserved = 0;  ///< at its end
  std::uint64_t peak_allocated = 0, peak_reserved = 0;
};

/// The first request that found no memory.
struct Shortage {
  Moment moment;
  std::uint64_t requested = 0;  ///< bytes asked of the device for it
};

/// All in bytes.
struct StepPlan {
  std::uint64_t peak_allocated = 0, peak_reserved = 0;
  Moment allocated_at;              ///< when most is allocated
  Moment reserved_at;               ///< when most is reserved, and of that moments the one with most allocated
  std::vector<ledger::Line> lines;  ///< at reserved_at; they add up to peak_reserved
  std::vector<LiveTensor> live;     ///< at reserved_at
  std::vector<PhasePeak> phases;
  std::uint64_t retries = 0;  ///< cached memory was given back for a request
  std::optional<Shortage> shortage;
};

/// Where an event of the program happens.
[[nodiscard]] Moment moment_at(const program::Program& program, std::size_t event);

/// Runs the program; with `available`, on a device with so many bytes for PyTorch, and to the first request that finds
/// none.
[[nodiscard]] StepPlan run_program(const program::Program& program, const allocator::Rules& rules,
                                   std::optional<std::uint64_t> available = std::nullopt);

/// Most bytes allocated at once, blocks rounded to 512 bytes and split as PyTorch's allocator would, without a look at
/// segments: what most programs reach exactly, in a fraction of the time. O(events).
[[nodiscard]] std::uint64_t peak_of_requests(const program::Program& program);
/// The same of all layers, in O(events of the folded program).
[[nodiscard]] std::uint64_t peak_of_requests(const program::Folded& folded);

}  // namespace ullage::planner
