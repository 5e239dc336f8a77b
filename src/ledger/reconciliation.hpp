// SPDX-License-Identifier: Apache-2.0
// Ledgers of one training from several sources, side by side, at the depth that all of them know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ledger/chart.hpp"

namespace ullage::ledger {

/// A line of all columns. In each column the children add up to their parent, to the byte.
struct JoinedLine {
  std::string id, name;
  std::vector<std::uint64_t> bytes;  ///< by column; 0 where a ledger does not have the line
  std::vector<JoinedLine> children;
  /// Column `to` less column `from`.
  [[nodiscard]] std::int64_t difference(std::size_t from, std::size_t to) const {
    return static_cast<std::int64_t>(bytes[to] - bytes[from]);
  }
};

struct Joined {
  JoinedLine root;
  std::vector<std::string> notes;  ///< what was left out or put together so that all have the same lines
};

/// The accounts of a chart: the children of its line of PyTorch's memory; the chart's own where it has no such line.
std::vector<Line>& accounts_of(Line& chart);

/// Puts activations and temporaries, which have their modules below them, by the parts of a layer: a plan and a run do
/// not agree on the innermost module and on the operator. `transformer.h.*.mlp.act` is in `transformer.h.*.mlp`; what
/// the outermost module does itself and what is done outside of every module is one line: a plan does not tell them
/// apart.
void by_parts_of_layers(Line& chart);

/// Takes off what not every ledger has: where one shows PyTorch's memory alone, that is compared; where one does not
/// say what is reserved, what is allocated is. Returns what was done, for people.
std::vector<std::string> to_common_root(const std::vector<Line*>& ledgers);

/// Lines the ledgers up, by id in the chart and by name below it. A line that some ledger does not drill is drilled in
/// none; context and what is outside PyTorch are one line where some ledger does not tell them apart. Every ledger must
/// pass check(); there must be at least one.
Joined join(std::vector<Line> ledgers);

/// The lines that have none below them, in order.
std::vector<const JoinedLine*> leaves(const JoinedLine& root);

/// Every violation of "children add up to their parent in each column"; empty when it holds.
std::vector<std::string> check(const JoinedLine& line);

}  // namespace ullage::ledger
