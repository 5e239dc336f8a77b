// SPDX-License-Identifier: Apache-2.0
#include "findings/lack.hpp"

#include <algorithm>
#include <vector>

namespace ullage::findings {

Lack lack_at(const timeline::Timeline& timeline, const timeline::InitialState& initial, std::size_t at,
             std::uint64_t reserved) {
  timeline::BlockReplay replay(timeline, initial);
  replay.advance_to(at);
  Lack lack;
  lack.requested = timeline.events.at(at).size;
  lack.allocated = replay.now().allocated;
  lack.reserved = std::max(replay.now().reserved, reserved);
  lack.idle = lack.reserved - std::min(lack.reserved, lack.allocated);
  std::vector<timeline::Segment> segments;
  std::vector<timeline::Block> blocks;
  replay.final_state(segments, blocks);
  for (const timeline::Block& block : blocks) {
    if (block.state == timeline::BlockState::inactive) lack.largest_piece = std::max(lack.largest_piece, block.size);
  }
  lack.fragmented = lack.idle >= lack.requested && lack.idle >= lack.reserved / 20;
  return lack;
}

}  // namespace ullage::findings
