// SPDX-License-Identifier: Apache-2.0
// Which moment of the evidence a ledger is of.
#pragma once

#include "apps/ullage/evidence/evidence.hpp"
#include "apps/ullage/flags.hpp"

#include <string>

namespace ullage::cli {

/// The flag that names a moment, of every command that has one.
inline constexpr Flag at_flag{"at", "MOMENT", "peak, reserved, fullest, oom, end or phase:[STEP:]NAME", FlagKind::text,
                              "peak"};

struct ChosenCut {
  ledger::Cut cut;
  std::string title;  ///< "the peak of allocated memory, in step 2 backward"
};

/// The cut at a moment: `peak`, `reserved`, `fullest` (most reserved and, of that, most allocated), `oom`, `end`,
/// `phase:[STEP:]NAME`. The evidence must outlive it. Errors: `usage` for a moment that the evidence does not have,
/// with those that it has; `bad_input` when it has no allocations in order.
[[nodiscard]] Result<ChosenCut> choose_cut(const Evidence& evidence, const std::string& moment);

}  // namespace ullage::cli
