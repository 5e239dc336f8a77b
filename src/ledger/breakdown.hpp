// SPDX-License-Identifier: Apache-2.0
// Drills the allocated bytes at a cut into a tree of lines, by the levels that are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attribution/labels.hpp"
#include "ledger/chart.hpp"
#include "timeline/allocations.hpp"

namespace ullage::ledger {

enum class Level : std::uint8_t {
  category,
  kind,       ///< of optimizer state its name, of activations whether they are saved ...
  module,     ///< dotted name
  layer,      ///< the module's name with its numbers as `*`: the same module of all layers
  operation,  ///< the operator of PyTorch
  line,       ///< the line of code outside torch
  tensor,     ///< the tensor's own name, else its size
  block,      ///< each allocation: its address and the event that made it
};
const char* name_of(Level level);

/// Everything that lived on the device at one cut.
struct Cut {
  const timeline::Timeline* timeline = nullptr;
  const timeline::Allocations* allocations = nullptr;
  const attribution::Labels* labels = nullptr;
  std::size_t events = 0;                 ///< how many events are done
  std::optional<std::uint64_t> reserved;  ///< by PyTorch then; nothing where the source does not say it
  bool whole_device = false;  ///< `context` and `outside` are known; else the chart is of PyTorch's memory alone
  std::uint64_t outside = 0;  ///< on the device beside PyTorch's segments and the context
  std::uint64_t context = 0;
  KnownBy known_by = KnownBy::measured;
};

/// The chart of accounts: `used` with context, reserved and what is outside, `reserved` alone where the rest is not
/// known, or `allocated` (without `cached`) where reserved is not either. It has one line per category (only those with
/// bytes, and always parameters, gradients, optimizer state, activations and temporaries), `rounding`, `unattributed`
/// and `cached`. Owners' lines have requested bytes. Below the categories the levels of `by`, each
/// line's children from the largest to the smallest; Level::category itself is always there.
Line chart(const Cut& cut, std::span<const Level> by);

/// The line of a chart whose children are the categories: `reserved` or `allocated`. Null when it has neither.
const Line* pytorch_line(const Line& chart);

/// The `most` largest groups of one module (of all layers together) and operator among activations and temporaries, by
/// bytes; `name` is "MODULE, OPERATOR", `id` that of the chart.
std::vector<Line> largest_owners(const Cut& cut, std::size_t most);

/// Keeps the `most` largest children of every line below the categories and adds the others up in one last line.
void fold(Line& line, std::size_t most);

}  // namespace ullage::ledger
