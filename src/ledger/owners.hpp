// SPDX-License-Identifier: Apache-2.0
// Which storages the named tensors own at one mark, where no history tells more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "ledger/chart.hpp"
#include "ledger/facts.hpp"
#include "timeline/size_rules.hpp"

namespace ullage::ledger {

/// Bytes by class; a storage counts once, at its first owner in the order of TensorClass.
struct OwnedBytes {
  std::uint64_t parameters = 0;
  std::uint64_t buffers = 0;
  std::uint64_t gradients = 0;
  std::map<std::string, std::uint64_t> optimizer_state;  ///< by the state's name
  [[nodiscard]] std::uint64_t total() const;
};

/// Which size of a storage counts.
enum class OwnedSizes : std::uint8_t {
  rounded,    ///< up to 512 bytes, as the allocator does
  requested,  ///< as it was asked for
};

/// Without a history: storage bytes, at most `limit` in all.
OwnedBytes owned_by_sizes(std::span<const TensorList> lists, std::size_t mark, std::uint64_t limit,
                          OwnedSizes sizes = OwnedSizes::rounded);

/// The lines of parameters and of optimizer state, as a sum.
Line states_line(const OwnedBytes& owned, KnownBy known_by);

}  // namespace ullage::ledger
