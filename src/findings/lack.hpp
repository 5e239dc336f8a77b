// SPDX-License-Identifier: Apache-2.0
// Why a request failed, where the allocator's blocks are known.
#pragma once

#include <cstdint>
#include <optional>

#include "timeline/block_replay.hpp"

namespace ullage::findings {

/// The allocator at the failure of a request. Bytes.
struct Lack {
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0, reserved = 0;
  std::uint64_t idle = 0;           ///< reserved, not allocated
  std::uint64_t largest_piece = 0;  ///< the largest free block
  bool fragmented = false;  ///< what lies idle would hold the request if it were one piece, and is a twentieth of the
                            ///< reserved memory
};

/// The state before event `at`, which is the failed request. `reserved`: what the source says is reserved then, where
/// it has no segments; the largest piece is then 0.
Lack lack_at(const timeline::Timeline& timeline, const timeline::InitialState& initial, std::size_t at,
             std::uint64_t reserved = 0);

}  // namespace ullage::findings
