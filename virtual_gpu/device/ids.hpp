// SPDX-License-Identifier: Apache-2.0
// How the virtual device names addresses, streams and events.
#pragma once

#include <cstdint>

namespace ullage::vgpu {

using Address = std::uint64_t;
using StreamId = std::uint32_t;  ///< 0 is the legacy default stream
using EventId = std::uint64_t;

}  // namespace ullage::vgpu
