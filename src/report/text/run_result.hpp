// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/run_result.hpp"

#include <string>

namespace ullage::report {

/// The report of a rehearsal for people: device and stack, phases, ledger, verdict, cards, transfers, and what to know
/// about how it was found.
[[nodiscard]] std::string result_text(const RunResult& result);

/// Its verdict alone: what it needs and what is left or missing, each line indented but the first.
[[nodiscard]] std::string verdict_text(const RunResult& result);

}  // namespace ullage::report
