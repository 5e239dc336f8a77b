// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/chart.hpp"
#include "report/ledger_view.hpp"

#include <string>

namespace ullage::report {

/// The lines of a chart as an indented table: bytes, share of the root, how it is known.
[[nodiscard]] std::string ledger_table(const ledger::Line& root);

/// The source, what it cannot show, and its peak: lines before the table of a moment.
[[nodiscard]] std::string moment_text(const MomentView& view);

/// What the source cannot show; empty when there is nothing to say.
[[nodiscard]] std::string evidence_text(const EvidenceView& evidence);

}  // namespace ullage::report
