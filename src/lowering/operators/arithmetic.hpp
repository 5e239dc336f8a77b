// SPDX-License-Identifier: Apache-2.0
// Whole numbers as kernels round them.
#pragma once

#include <cstdint>

namespace ullage::lowering {

/// How many pieces of `by` cover `value`.
constexpr std::int64_t divide_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return divide_up(value, multiple) * multiple;
}

}  // namespace ullage::lowering
