// SPDX-License-Identifier: Apache-2.0
// torch.compile: which caches a run uses, whether they were cold, and what the report says of it.
//
// A compiler with cold caches times kernels on the device, and the buffers for that stay in PyTorch's pool.
#pragma once

#include "apps/ullage/rehearsal/attempt.hpp"
#include "report/run_result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ullage::cli {

/// The folder of the compiler's caches: for a warm start one of Ullage's own that stays, for a cold one an empty one in
/// the run directory. Empty when there is no place for one (no home).
[[nodiscard]] std::string compiler_cache(const RehearsalOptions& options, const std::string& run_directory);

/// What is kept of a run whose caches were cold.
struct ColdRun {
  std::uint64_t graphs = 0, compiled = 0, timed = 0;
  std::uint64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0;
};

/// True when the run compiled what no cache held, or timed kernels, and a further run can profit from it.
[[nodiscard]] bool compiled_anew(const Attempt& attempt);

[[nodiscard]] ColdRun cold_run_of(const Attempt& attempt);

/// Fills `result.compiler` from the run that is shown.
void take_compiler(report::RunResult& result, const RehearsalOptions& options, const Attempt& shown,
                   const std::optional<ColdRun>& cold);

}  // namespace ullage::cli
