// SPDX-License-Identifier: Apache-2.0
// Plan, rehearsal and measurement side by side: what `ullage reconcile` prints.
#pragma once

#include "findings/causes.hpp"
#include "ledger/reconciliation.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ullage::report {

/// The time of one optimizer step. Seconds.
struct ColumnTime {
  double seconds = 0, low = 0, high = 0;
  std::string known_by;  ///< estimated, measured
};

struct ReconcileColumn {
  std::string id;        ///< plan, rehearsal, measured
  std::string source;    ///< a path, an id of a run
  std::string moment;    ///< what its ledger is of
  std::string producer;  ///< "recording, torch 2.11.0"
  std::optional<ColumnTime> time;
};

struct ReconcileView {
  std::vector<ReconcileColumn> columns;  ///< in the order plan, rehearsal, measured; the last is the reference
  std::vector<findings::ConfigurationFact> configuration;
  ledger::Joined joined;
  std::vector<findings::Comparison> comparisons;  ///< of every column but the last
  std::vector<std::string> notes;
};

/// For people; `top` lines of each comparison, 0 for all.
[[nodiscard]] std::string reconcile_text(const ReconcileView& view, std::size_t top);
/// For programs: docs/schemas/reconcile.schema.json.
[[nodiscard]] std::string reconcile_json(const ReconcileView& view);

}  // namespace ullage::report
