// SPDX-License-Identifier: Apache-2.0
// The matrices of attention that fused attention would not keep.
#pragma once

#include <cstddef>
#include <vector>

#include "ledger/breakdown.hpp"

namespace ullage::findings {

struct AttentionMatrices {
  std::vector<timeline::AllocationId> allocations;  ///< alive at the cut
  std::size_t modules = 0;                          ///< that ran a softmax; 0 where none is known
};

/// By modules and operators, where they are known. In modules that ran a softmax: what softmax, dropout, masks and the
/// arithmetic around them keep whose size is that of the probabilities, or two or four times more or less (another
/// precision, a mask). By call stacks, where they are not: the same of functions that are called from one with
/// `attention` or `attn` in its name, if a function `softmax` is among them.
AttentionMatrices attention_matrices(const ledger::Cut& cut);

}  // namespace ullage::findings
