// SPDX-License-Identifier: Apache-2.0
// How the lines of a planned step come about: of which tensors each consists, and when the first of most was there.
#pragma once

#include "planner/program_ledger.hpp"
#include "program/program.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ullage::planner {

/// One line below an account of the ledger.
struct LineOrigin {
  std::string line;  ///< its id
  /// Bytes of a tensor, and how many of that size are alive; the size that holds the most first.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes;
  std::uint64_t bytes = 0;
  std::size_t first_event = 0;  ///< the line's first request in the program of the size that holds the most
};

/// In the order of the program.
[[nodiscard]] std::vector<LineOrigin> origins_of(const program::Program& program, const std::vector<LiveTensor>& live);

}  // namespace ullage::planner
