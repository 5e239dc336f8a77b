// SPDX-License-Identifier: Apache-2.0
// The chart of accounts: a tree of lines whose children add up to their parent, to the byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ullage::ledger {

/// How the bytes of a line are known, best first.
enum class KnownBy : std::uint8_t {
  measured,   ///< on a real GPU
  executed,   ///< real PyTorch code ran on the virtual GPU
  derived,    ///< from rules checked against executed runs
  estimated,  ///< an empirical constant
  assumed,    ///< the user did not say
};

/// How the owner of a line is known.
enum class AttributedBy : std::uint8_t { nothing, named, module, frames, lifetime, size, annotation };

const char* name_of(KnownBy known_by);
const char* name_of(AttributedBy attributed_by);  ///< empty for `nothing`

struct Line {
  std::string id;    ///< stable, for programs: `optimizer_state.exp_avg`
  std::string name;  ///< for people
  std::uint64_t bytes = 0;
  KnownBy known_by = KnownBy::measured;
  AttributedBy attributed_by = AttributedBy::nothing;
  std::vector<Line> children;
};

/// A line whose bytes are the sum of its children.
Line sum_line(std::string id, std::string name, KnownBy known_by, std::vector<Line> children);

/// Every violation of "children add up to their parent" in the tree, as `id: sum of children, bytes`; empty when it
/// holds. A sum that does not fit 64 bits is a violation.
std::vector<std::string> check(const Line& line);

/// The first line with this id, depth first; null when there is none.
const Line* find(const Line& line, const std::string& id);

}  // namespace ullage::ledger
