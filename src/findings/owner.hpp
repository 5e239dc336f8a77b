// SPDX-License-Identifier: Apache-2.0
// The largest owner at a cut.
#pragma once

#include <cstdint>
#include <string>

#include "ledger/breakdown.hpp"

namespace ullage::findings {

/// The largest line of the chart among those that own allocated bytes, and the largest part of it.
struct Owner {
  std::string id;    ///< of the line: `activations`
  std::string name;  ///< "activations"
  std::uint64_t bytes = 0;
  std::uint64_t allocated = 0;  ///< of all lines
  std::string part;             ///< "transformer.h.*.attn, aten::softmax"; by line of code where nothing else is known
  std::uint64_t part_bytes = 0;
};

Owner largest_owner(const ledger::Cut& cut);

}  // namespace ullage::findings
