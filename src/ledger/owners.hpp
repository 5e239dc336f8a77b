// SPDX-License-Identifier: Apache-2.0
// Which storages the named tensors own at one mark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "ledger/facts.hpp"
#include "timeline/block_replay.hpp"

namespace ullage::ledger {

/// Bytes by class; a storage counts once, at its first owner in the order of TensorClass.
struct OwnedBytes {
  std::uint64_t parameters = 0;
  std::uint64_t buffers = 0;
  std::uint64_t gradients = 0;
  std::map<std::string, std::uint64_t> optimizer_state;  ///< by the state's name
  std::uint64_t gone = 0;                                ///< listed tensors whose storage no longer lives, or never did
  [[nodiscard]] std::uint64_t total() const;
};

/// With the replayed history: `live` are the blocks at the mark (sorted by address), `cuts[i]` is the place of mark i.
/// A tensor counts when a block begins at its storage and lived already when the tensor was seen; its bytes are the
/// block's.
OwnedBytes owned_by_blocks(std::span<const TensorList> lists, std::size_t mark,
                           std::span<const timeline::LiveBlock> live, std::span<const std::size_t> cuts);

/// Without a history: storage bytes rounded up to 512, at most `limit` in all.
OwnedBytes owned_by_sizes(std::span<const TensorList> lists, std::size_t mark, std::uint64_t limit);

}  // namespace ullage::ledger
