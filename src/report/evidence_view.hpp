// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ullage::report {

/// What a source cannot show.
struct EvidenceView {
  bool partial = false;
  bool overflowed = false;
  std::vector<std::string> missing;
  std::vector<std::string> contradictions;
};

}  // namespace ullage::report
