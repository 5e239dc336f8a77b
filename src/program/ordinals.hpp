// SPDX-License-Identifier: Apache-2.0
// Tensors and modules of a folded program by their number within their layer, which is the same in layers that are
// alike.
#pragma once

#include "program/folded.hpp"

#include <vector>

namespace ullage::program {

/// How many things of its layer come before each.
[[nodiscard]] std::vector<std::uint32_t> ordinals(const std::vector<LayerNumber>& layers);

}  // namespace ullage::program
