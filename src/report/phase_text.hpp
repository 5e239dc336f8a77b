// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "attribution/facts.hpp"

#include <string>

namespace ullage::report {

/// "step 2 backward"; the name alone outside steps.
inline std::string phase_title(const attribution::PhaseSpan& phase) {
  const std::string name = attribution::name_of(phase.name);
  return phase.step == 0 ? name : "step " + std::to_string(phase.step) + " " + name;
}

}  // namespace ullage::report
