// SPDX-License-Identifier: Apache-2.0
// Findings of evidence, and which of them are not to be shown.
#pragma once

#include "apps/ullage/evidence/evidence.hpp"
#include "apps/ullage/flags.hpp"
#include "findings/rule.hpp"
#include "report/findings_view.hpp"

#include <string>
#include <vector>

namespace ullage::cli {

/// The flag that silences rules, of every command that shows findings.
inline constexpr Flag ignore_flag{"ignore", "ID[,ID...]", "leave out the findings of these rules; may be repeated"};

/// One that is not to be shown: of a rule, and, where `line` is not empty, only at lines of code that contain it.
struct Ignored {
  std::string id, line;
};

/// Of --ignore, and of the file .ullageignore in the current directory or the nearest one above that has it: a line
/// holds a rule's id and, behind white space, a part of the line of code; `#` begins a comment. Errors: `usage` for an
/// unknown id of the flag, `bad_input` for one of the file, both with a suggestion.
[[nodiscard]] Result<std::vector<Ignored>> ignored_findings(const Arguments& arguments);

/// What is left, and how many were left out.
[[nodiscard]] report::FindingsView without_ignored(std::vector<findings::Finding> findings,
                                                   const std::vector<Ignored>& ignored);

/// What a run is judged by beside its own evidence.
struct Judgement {
  double headroom = 0.15;
  std::uint64_t reserve = 0;
  bool fits = false;
};

/// Of what a run tells of its steps without a history.
[[nodiscard]] std::vector<findings::Finding> findings_of_steps(const ingest::RunDirectory& run);

/// Of one run: of its history, and of its steps.
[[nodiscard]] std::vector<findings::Finding> findings_of_run(const ingest::RunDirectory& run,
                                                             const ledger::Account& account,
                                                             const ledger::RunLedger& ledger,
                                                             std::optional<std::uint64_t> capacity,
                                                             const Judgement& judgement);

/// Of a run that ran out of memory and of the one without a limit beside it: the failure of the first, and what the
/// second shows.
[[nodiscard]] std::vector<findings::Finding> joined(std::vector<findings::Finding> limited,
                                                    std::vector<findings::Finding> unlimited);

/// Of any evidence; of a run also of the one without a limit beside it. Nothing for counters and texts.
[[nodiscard]] std::vector<findings::Finding> findings_of_evidence(const Evidence& evidence, double headroom = 0.15);

}  // namespace ullage::cli
