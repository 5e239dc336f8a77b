// SPDX-License-Identifier: Apache-2.0
// Why two sources of one training give a line of the ledger different bytes: by what differs in the configuration, and
// by what a source cannot know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/reconciliation.hpp"

namespace ullage::findings {

/// One fact of what was asked for, by column.
struct ConfigurationFact {
  std::string key;                                 ///< `GPU`, `parameters`, `--batch`
  std::vector<std::optional<std::string>> values;  ///< by column; nothing where the source does not say it
  bool chosen = false;                             ///< a setting of the script, its launcher or its environment
  /// True when both columns say something, and not the same.
  [[nodiscard]] bool differs(std::size_t left, std::size_t right) const;
};

/// What a column cannot know, whatever was asked for.
struct ColumnLimits {
  bool states_alone = false;       ///< a plan without a step
  bool context_estimated = false;  ///< the context is a constant of the GPU
  std::string moment;              ///< what the ledger is of: "step 2 backward"
};

struct Cause {
  std::string id;                          ///< stable: `setting`, `moved`, `states_alone` ...
  std::string text;                        ///< one line
  bool certain = false;                    ///< the arithmetic or the only difference there is says so
  std::optional<std::uint64_t> part = {};  ///< bytes, where it explains only so many of the line's difference
};

/// A line that differs; nothing for what no rule knows: unexplained residue.
struct ExplainedLine {
  const ledger::JoinedLine* line = nullptr;
  std::int64_t bytes = 0;  ///< the reference less the column
  std::optional<Cause> cause;
};

/// What differs from one column to the reference.
struct Comparison {
  std::size_t column = 0, reference = 0;
  std::int64_t bytes = 0;            ///< of the totals
  std::vector<ExplainedLine> lines;  ///< leaves that differ, the largest effect first; their bytes add up to `bytes`
  std::uint64_t explained = 0;       ///< what has a cause, without signs
  std::uint64_t unexplained = 0;     ///< the rest
};

/// Lines of one certain cause stand under the same text. `joined` must outlive the result. Deterministic.
Comparison compare(const ledger::Joined& joined, const std::vector<ConfigurationFact>& configuration,
                   const std::vector<ColumnLimits>& limits, std::size_t column, std::size_t reference);

}  // namespace ullage::findings
