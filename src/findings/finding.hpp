// SPDX-License-Identifier: Apache-2.0
// A finding: something in the evidence that a person could act on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ullage::findings {

enum class FindingLevel : std::uint8_t {
  problem,      ///< something is wrong
  opportunity,  ///< bytes or time that could be saved
};
const char* name_of(FindingLevel level);  ///< `problem`

/// "file:line function". Empty where it is not known.
struct CodeLine {
  std::string line;
  std::string called_from;  ///< the script's outermost line, where `line` is another one
};

struct Finding {
  std::string id;  ///< of the rule
  FindingLevel level = FindingLevel::opportunity;
  std::uint64_t bytes = 0;            ///< what it costs; `bytes_are` says where
  std::string bytes_are;              ///< "at the peak", "in every step", "idle at the failed request"
  std::string title;                  ///< what was found, in one line
  std::vector<std::string> evidence;  ///< each a sentence with its bytes
  CodeLine code;
  bool grows = false;  ///< every further step adds to it
  std::string next;    ///< what to do
};

}  // namespace ullage::findings
