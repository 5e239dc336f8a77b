// SPDX-License-Identifier: Apache-2.0
// Device attributes by their number in the CUDA interface; runtime and driver use the same numbers and this one table.
#pragma once

#include <optional>

#include "virtual_gpu/device/profile.hpp"

namespace ullage::vgpu {

/// Value of an attribute; nothing for a number that no CUDA 13 header names.
std::optional<int> attribute(const Profile& profile, int number);

/// The architecture whose code a device of this compute capability runs out of a CUDA 13 wheel, as ptxVersion gives it:
/// the highest of the same major capability that the wheel holds (86 for 8.7 and 8.9, 100 for 10.3).
int code_architecture(const Profile& profile);

/// Blocks of a kernel that fit on one multiprocessor, by threads, blocks and shared memory.
int active_blocks_per_sm(const Profile& profile, int block_size, std::size_t shared_bytes);

}  // namespace ullage::vgpu
