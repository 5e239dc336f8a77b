// SPDX-License-Identifier: Apache-2.0
// Scratch memory that a library asks its caller for, where only an estimate is known.
#pragma once

#include <cstdint>

namespace ullage::vgpu {

/// Bytes. `likely` is what the stand-in asks for; the real library may ask for anything from `low` to `high`.
struct WorkspaceRange {
  std::uint64_t low = 0, likely = 0, high = 0;
};

}  // namespace ullage::vgpu
