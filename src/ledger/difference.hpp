// SPDX-License-Identifier: Apache-2.0
// What changed from one ledger to another, line by line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/chart.hpp"

namespace ullage::ledger {

enum class Change : std::uint8_t { same, added, grown, shrunk, gone };
const char* name_of(Change change);

/// A line of both ledgers, or of one. Differences are `after` less `before`; those of the children add up to their
/// parent's, as the ledgers' own lines do.
struct Difference {
  std::string id;
  std::string name;
  std::uint64_t before = 0;  ///< bytes
  std::uint64_t after = 0;
  Change change = Change::same;
  std::vector<Difference> children;  ///< the largest effect first, either way; equal ones by id
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(after - before); }
};

/// Compares by id. Both ledgers must pass check().
Difference difference(const Line& before, const Line& after);

/// The leaves that changed, the largest effect first.
std::vector<Difference> changed_leaves(const Difference& root);

}  // namespace ullage::ledger
