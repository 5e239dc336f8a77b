// SPDX-License-Identifier: Apache-2.0
// Tensors that an autograd graph holds although no backward pass ever comes to it.
#pragma once

#include <cstdint>
#include <vector>

#include "findings/subject.hpp"

namespace ullage::findings {

struct Unreached {
  std::vector<AllocationId> all;      ///< in the order of birth
  std::vector<AllocationId> at_peak;  ///< of them, alive at the peak
  std::vector<AllocationId> at_most;  ///< alive when they were most
  std::uint64_t bytes_at_most = 0;
  bool ends_early = false;  ///< the record of operators does not cover the whole run: there may be more
};

/// What operators made whose node no backward pass ran, and which lived longer than the operator: of the steps whose
/// operators were recorded. Empty without a record of operators.
const Unreached& unreached_in(const Subject& subject);

}  // namespace ullage::findings
