// SPDX-License-Identifier: Apache-2.0
// From evidence of any format to what `ullage explain` prints.
#pragma once

#include "apps/ullage/evidence/evidence.hpp"
#include "ingest/oom_message/request_size.hpp"
#include "report/explain_view.hpp"

#include <optional>
#include <string>

namespace ullage::cli {

struct ExplainOptions {
  std::optional<ingest::ModelDimensions> model;
  std::optional<std::uint64_t> micro_batch, sequence;
  std::optional<std::string> gpu;  ///< for the command at the end
  std::size_t top = 4;             ///< lines of each level; 0 is all
};

[[nodiscard]] report::ExplainView explanation_of(const Evidence& evidence, const ExplainOptions& options);

/// Of the texts: messages, the failure of the first, what to try.
void explain_messages(const ingest::OomLog& log, const ExplainOptions& options, report::ExplainView& view);

/// Of allocations in order: the ledger at the failure or the peak, owner, changes.
void explain_timeline(const Evidence& evidence, const ExplainOptions& options, report::ExplainView& view);

/// Of a rehearsal that ran out of memory: its second run, in which nothing is refused.
void explain_whole_run(const Evidence& evidence, report::ExplainView& view);

/// Of counters without allocations: their peak.
void explain_counters(const Evidence& evidence, report::ExplainView& view);

/// The command that would check the first change: the run's own, or one with the GPU that has this capacity.
[[nodiscard]] std::string verifying_command(const Evidence& evidence, const ExplainOptions& options,
                                            const report::ExplainView& view);

}  // namespace ullage::cli
