// SPDX-License-Identifier: Apache-2.0
// Scratch memory of NVIDIA's CUB as PyTorch 2.11 calls it: it depends on how many elements a block takes, hence on the
// architecture. Found by running the kernels' host side for 87 sizes on seven GPUs; all of them agree.
#pragma once

#include "lowering/context.hpp"

#include <cstdint>

namespace ullage::lowering {

/// cub::DeviceRadixSort of pairs of int64. Bytes.
[[nodiscard]] std::uint64_t sort_bytes(const DeviceFacts& device, std::int64_t pairs);
/// cub::DeviceSelect::UniqueByKey of int64.
[[nodiscard]] std::uint64_t unique_bytes(const DeviceFacts& device, std::int64_t elements);
/// cub::DeviceScan of values of 8 or 4 bytes.
[[nodiscard]] std::uint64_t scan_bytes(std::int64_t elements, std::int64_t width = 8);

}  // namespace ullage::lowering
