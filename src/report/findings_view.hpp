// SPDX-License-Identifier: Apache-2.0
// Findings as text and JSON, and the rules with their documentation.
#pragma once

#include "findings/rule.hpp"
#include "report/evidence_view.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ullage::report {

/// What is shown of the findings of one source.
struct FindingsView {
  std::vector<findings::Finding> findings;
  std::uint64_t ignored = 0;  ///< left out on request
};

struct SourceFindings {
  std::string source, producer;
  FindingsView view;
  EvidenceView evidence;
};

/// A table with a line for each, under a heading; empty when there is nothing.
[[nodiscard]] std::string findings_section(const FindingsView& view);
/// Each with its evidence and the next step.
[[nodiscard]] std::string findings_text(const SourceFindings& found);
/// docs/schemas/findings.schema.json.
[[nodiscard]] std::string findings_json(const SourceFindings& found);

/// What each rule recognises, with an example and the next step.
[[nodiscard]] std::string rules_text(std::span<const findings::Rule* const> rules);
[[nodiscard]] std::string rules_json(std::span<const findings::Rule* const> rules);

}  // namespace ullage::report
