// SPDX-License-Identifier: Apache-2.0
// A ledger of one moment, of any source, as data: what `ullage ledger` prints.
#pragma once

#include "ledger/chart.hpp"
#include "report/evidence_view.hpp"
#include "report/findings_view.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::report {

/// What every view of one moment says of its source.
struct MomentView {
  std::string source;    ///< path
  std::string format;    ///< "memory snapshot"
  std::string producer;  ///< "rehearsal, torch 2.11.0"
  std::string moment;    ///< "the peak of allocated memory, in step 2 backward"
  std::optional<int> device;
  std::optional<std::uint64_t> peak_allocated, peak_reserved, peak_requested, peak_used;  ///< what the source knows
  std::optional<std::uint64_t> capacity_bytes;
  EvidenceView evidence;
};

struct LedgerView : MomentView {
  ledger::Line ledger;
  FindingsView found;
};

/// For people. Lines without bytes are left out, but for the headings of the chart.
[[nodiscard]] std::string ledger_text(const LedgerView& view);
/// For programs: docs/schemas/result.schema.json.
[[nodiscard]] std::string ledger_json(const LedgerView& view);

}  // namespace ullage::report
