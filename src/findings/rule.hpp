// SPDX-License-Identifier: Apache-2.0
// A rule, and all of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "findings/finding.hpp"
#include "findings/run_steps.hpp"
#include "findings/subject.hpp"

namespace ullage::findings {

struct Rule {
  const char* id;  ///< stable
  FindingLevel level;
  const char* title;     ///< what it recognises, one line
  const char* explains;  ///< when it speaks, what the bytes are, when that is to be expected
  const char* example;   ///< code that it would find
  const char* next;      ///< what to do about it
  /// Of allocations. Nothing when the evidence does not decide; null where the rule does not read them.
  std::vector<Finding> (*find)(const Rule& rule, const Subject& subject) = nullptr;
  /// The same of what a run tells of its steps without them.
  std::vector<Finding> (*find_in_steps)(const Rule& rule, const RunSteps& steps) = nullptr;
};

/// A finding of this rule with its id, level and next step.
Finding finding_of(const Rule& rule, std::uint64_t bytes, std::string title, CodeLine code = {});

/// Every rule, problems first.
std::span<const Rule* const> rules();

/// The rule of that id; null when there is none.
const Rule* rule_of(std::string_view id);

/// All findings, problems first, each level by bytes.
std::vector<Finding> findings_of(const Subject& subject);

/// The same of a run's steps. Growth is that of the device's memory: what allocations tell of it is better, and
/// replaces it.
std::vector<Finding> findings_of(const RunSteps& steps);

/// Sorts findings from several subjects the same way.
void rank(std::vector<Finding>& findings);

}  // namespace ullage::findings
