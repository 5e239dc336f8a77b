// SPDX-License-Identifier: Apache-2.0
// A rule, and all of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "findings/finding.hpp"
#include "findings/subject.hpp"

namespace ullage::findings {

struct Rule {
  const char* id;  ///< stable
  FindingLevel level;
  const char* title;     ///< what it recognises, one line
  const char* explains;  ///< when it speaks, what the bytes are, when that is to be expected
  const char* example;   ///< code that it would find
  const char* next;      ///< what to do about it
  /// Nothing when the evidence does not decide.
  std::vector<Finding> (*find)(const Rule& rule, const Subject& subject);
};

/// A finding of this rule with its id, level and next step.
Finding finding_of(const Rule& rule, std::uint64_t bytes, std::string title, CodeLine code = {});

/// Every rule, problems first.
std::span<const Rule* const> rules();

/// The rule of that id; null when there is none.
const Rule* rule_of(std::string_view id);

/// All findings, problems first, each level by bytes.
std::vector<Finding> findings_of(const Subject& subject);

/// Sorts findings from several subjects the same way.
void rank(std::vector<Finding>& findings);

}  // namespace ullage::findings
