// SPDX-License-Identifier: Apache-2.0
// Two ledgers side by side: what `ullage diff` prints.
#pragma once

#include "ledger/difference.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::report {

/// A setting of two runs; nothing where a run does not have it.
struct ChangedSetting {
  std::string source;  ///< script, launcher, environment, device, inputs, stack, code
  std::string key;
  std::optional<std::string> before, after;
  bool chosen = false;  ///< a person asked for it: not a version or a commit
};

/// The highest allocated memory in any phase of one name. Bytes; nothing where a run has no such phase.
struct ChangedPhase {
  std::string name;
  std::optional<std::uint64_t> before, after;
};

struct DifferenceView {
  std::string before, after;                ///< paths
  std::string before_moment, after_moment;  ///< what the ledgers are of
  ledger::Difference root;
  std::vector<std::string> notes;
  std::vector<ChangedSetting> settings;  ///< of two runs: those that differ
  std::vector<ChangedPhase> phases;      ///< of two runs: all, in their order
};

/// For people: what was asked for differently, the chart with both columns, phases, then the `top` leaves that changed
/// most.
[[nodiscard]] std::string difference_text(const DifferenceView& view, std::size_t top);
/// For programs: docs/schemas/diff.schema.json.
[[nodiscard]] std::string difference_json(const DifferenceView& view);

}  // namespace ullage::report
