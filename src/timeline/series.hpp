// SPDX-License-Identifier: Apache-2.0
// Series: a counter over time, where a source has no single allocations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ullage::timeline {

/// One counter. A value holds until the next point; times rise. Values are bytes.
struct Series {
  std::string name;
  std::vector<std::int64_t> time_ns;  ///< of the source's clock
  std::vector<std::uint64_t> value;

  [[nodiscard]] std::size_t count() const { return value.size(); }
  void add(std::int64_t time, std::uint64_t bytes) {
    time_ns.push_back(time);
    value.push_back(bytes);
  }
  /// The index of the first highest value; 0 when there is none.
  [[nodiscard]] std::size_t highest() const {
    return value.empty() ? 0 : static_cast<std::size_t>(std::ranges::max_element(value) - value.begin());
  }
  /// What it never falls below.
  [[nodiscard]] std::uint64_t floor() const { return value.empty() ? 0 : std::ranges::min(value); }
  [[nodiscard]] bool constant() const { return !value.empty() && std::ranges::max(value) == floor(); }
};

}  // namespace ullage::timeline
