// SPDX-License-Identifier: Apache-2.0
// Tensors that have the sizes of the model's parameters, one by one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "findings/subject.hpp"

namespace ullage::findings {

/// How many parameters there are of each size in bytes.
using Sizes = std::map<std::uint64_t, std::size_t>;

/// Of the parameters that have a gradient; of all of them where no gradient was seen.
Sizes trained_sizes(const Subject& subject);

/// Those of `allocations` that match a parameter each, in the same precision, twice or half its bytes, whichever
/// matches most. Nothing unless they stand for at least two parameters and half of the parameters' bytes.
std::vector<AllocationId> matching(const Subject& subject, std::span<const AllocationId> allocations,
                                   const Sizes& sizes);

/// Alive at the peak without an owner that a name or a state gives: what may be a copy somebody made.
std::vector<AllocationId> without_owner(const Subject& subject);

}  // namespace ullage::findings
