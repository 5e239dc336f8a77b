// SPDX-License-Identifier: Apache-2.0
// What optimizers keep between steps: a table of states, each with its shape and width. Data.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ullage::setup {

/// The shape of a state, from that of its parameter.
enum class Extent : std::uint8_t {
  elements,  ///< one for each element
  rows,      ///< the parameter's shape without its last dimension
  columns,   ///< the parameter's shape without its last but one dimension
  blocks,    ///< one for each 256 elements begun
  tensor,    ///< one for each parameter
  once,      ///< 256 for the whole optimizer
};

/// Which parameters have it.
enum class Applies : std::uint8_t {
  all,
  matrices,  ///< two dimensions or more
  vectors,   ///< fewer
  large,     ///< at least 4096 elements
  small,     ///< fewer
};

/// One state. Several rules of the same name add up.
struct StateRule {
  std::string_view state;  ///< as the optimizer names it: exp_avg
  Extent extent;
  std::uint32_t bytes;  ///< of one entry; 0: as wide as the precision says
  Applies applies = Applies::all;
};

struct Optimizer {
  std::string_view name;  ///< as on the command line
  std::string_view meaning;
  std::span<const StateRule> states;
  bool needs_shapes = false;     ///< a count of parameters is not enough
  bool works_on_master = false;  ///< may update fp32 master copies
  std::string_view source;
};

[[nodiscard]] std::span<const Optimizer> optimizers();

/// Errors: `usage`, with the nearest names.
[[nodiscard]] Result<const Optimizer*> find_optimizer(std::string_view name);

/// Whether a rule holds for a parameter of this many dimensions and elements.
[[nodiscard]] bool applies(Applies applies, std::size_t dimensions, std::uint64_t elements);

/// Entries of a state for a parameter of this shape; `once` is not counted here.
[[nodiscard]] std::uint64_t entries(Extent extent, std::span<const std::uint64_t> shape, std::uint64_t elements);

/// Entries of a state that exists once.
inline constexpr std::uint64_t entries_once = 256;

}  // namespace ullage::setup
