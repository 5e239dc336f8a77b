// SPDX-License-Identifier: Apache-2.0
// One rank of a data-parallel training: the program of one device, with what the ranks share divided among them.
#pragma once

#include "program/program.hpp"

#include <cstdint>

namespace ullage::planner {

/// What one of `ranks` ranks runs: from ZeRO stage 1 on the optimizer's state, and what an optimizer step needs
/// meanwhile, from 2 on the gradients too, from 3 on the parameters too; each tensor is shared evenly, rounded up. A
/// closed form (Rajbhandari et al. 2020, arXiv 1910.02054): buckets, gathered parameters and padding are not in it.
[[nodiscard]] program::Program of_one_rank(program::Program program, unsigned zero, std::uint64_t ranks);

}  // namespace ullage::planner
