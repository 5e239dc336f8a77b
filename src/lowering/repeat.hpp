// SPDX-License-Identifier: Apache-2.0
// A step like the one before, without lowering it again.
#pragma once

#include "program/program.hpp"

#include <cstdint>

namespace ullage::lowering {

/// Whether step `step` of the program, the last one, leaves tensor by tensor what it takes away, so that it can be
/// repeated.
[[nodiscard]] bool can_repeat(const program::Program& program, std::uint32_t step);

/// Appends the events, operators and marks of step `step - 1`, which the program ends with, once more as `step`. What
/// that step freed of the one before it, the new one frees of that step. False, and nothing appended, where the two do
/// not match: what the step left behind is not, tensor by tensor, of the sizes of what it took away.
[[nodiscard]] bool repeat_step(program::Program& program, std::uint32_t step);

}  // namespace ullage::lowering
