// SPDX-License-Identifier: Apache-2.0
// The chart of accounts: a tree of lines whose children add up to their parent, to the byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attribution/labels.hpp"

namespace ullage::ledger {

/// How the bytes of a line are known, best first.
enum class KnownBy : std::uint8_t {
  measured,   ///< on a real GPU
  executed,   ///< real PyTorch code ran on the virtual GPU
  derived,    ///< from rules checked against executed runs
  estimated,  ///< an empirical constant
  assumed,    ///< the user did not say
};

using attribution::AttributedBy;
using attribution::name_of;

const char* name_of(KnownBy known_by);

struct Line {
  std::string id;    ///< stable, for programs: `optimizer_state.exp_avg`
  std::string name;  ///< for people
  std::uint64_t bytes = 0;
  KnownBy known_by = KnownBy::measured;
  AttributedBy attributed_by = AttributedBy::nothing;
  std::vector<Line> children;
  std::uint64_t count = 0;  ///< how many allocations; 0 when not counted
};

/// A line whose bytes are the sum of its children.
Line sum_line(std::string id, std::string name, KnownBy known_by, std::vector<Line> children);

/// Every violation of "children add up to their parent" in the tree, as `id: sum of children, bytes`; empty when it
/// holds. A sum that does not fit 64 bits is a violation.
std::vector<std::string> check(const Line& line);

/// True when no line of the tree is without an id or a name.
[[nodiscard]] bool is_named(const Line& line);

/// The first line with this id, depth first; null when there is none.
const Line* find(const Line& line, const std::string& id);

}  // namespace ullage::ledger
