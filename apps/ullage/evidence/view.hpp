// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/ullage/evidence/cut.hpp"
#include "report/ledger_view.hpp"

namespace ullage::cli {

/// What a view of the moment says of the evidence.
[[nodiscard]] report::MomentView moment_view(const Evidence& evidence, const ChosenCut& chosen);
/// The whole view of counters: Evidence::counters must be there.
[[nodiscard]] report::LedgerView counters_view(const Evidence& evidence);
[[nodiscard]] report::EvidenceView evidence_view(const Evidence& evidence);

}  // namespace ullage::cli
