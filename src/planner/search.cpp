// SPDX-License-Identifier: Apache-2.0
#include "planner/search.hpp"

#include <algorithm>
#include <unordered_map>

namespace ullage::planner {
namespace {

/// A search in one direction: the better values are above, or below.
class Search {
 public:
  Search(const SearchRange& range, const Try& tried, bool upwards) : range_(range), tried_(tried), upwards_(upwards) {}

  /// From `first` on, each time twice as far. True when a value that fits was found.
  bool gallop() {
    for (std::uint64_t value = range_.first;; value = further(value)) {
      const Trial trial = at(value);
      if (trial == Trial::fits) {
        good_ = value;
        if (upwards_) bad_.reset();
      } else if (!upwards_ || !bad_) {
        bad_ = value;
      }
      if (is_last(value, trial)) return good_.has_value();
    }
  }

  /// Halves what is between what fits and what does not, then looks for what fits beyond.
  SearchEnd end() {
    halve();
    while (const auto better = beyond_the_hole()) {
      good_ = better;
      climb();
      halve();
    }
    return {*good_, neighbour(1)};
  }

 private:
  void halve() {
    while (bad_ && distance(*good_, *bad_) > 1) {
      const std::uint64_t middle = std::min(*good_, *bad_) + distance(*good_, *bad_) / 2;
      (at(middle) == Trial::fits ? good_ : bad_) = middle;
    }
  }
  /// From what fits on, each time twice as far, to what does not.
  void climb() {
    bad_.reset();
    for (std::uint64_t steps = 1; !bad_; steps *= 2) {
      const auto value = neighbour(steps);
      if (!value) return;
      (at(*value) == Trial::fits ? good_ : bad_) = value;
    }
  }
  Trial at(std::uint64_t value) {
    const auto known = known_.find(value);
    return known != known_.end() ? known->second : known_.emplace(value, tried_(value)).first->second;
  }
  [[nodiscard]] std::uint64_t further(std::uint64_t value) const {
    return std::min(range_.first + 2 * (value - range_.first) + 1, range_.last);
  }
  [[nodiscard]] bool is_last(std::uint64_t value, Trial trial) const {
    if (value == range_.last || trial == Trial::refused) return true;
    return upwards_ ? trial == Trial::hopeless : trial == Trial::fits;
  }
  static std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }
  /// So many values further than what fits.
  [[nodiscard]] std::optional<std::uint64_t> neighbour(std::uint64_t steps) const {
    if (upwards_) return range_.last - *good_ < steps ? std::nullopt : std::optional(*good_ + steps);
    return *good_ - range_.first < steps ? std::nullopt : std::optional(*good_ - steps);
  }
  /// What fits among the next values, one by one and then so many of them at once that it is a quarter in all.
  std::optional<std::uint64_t> beyond_the_hole() {
    const std::uint64_t stride = *good_ / (4 * range_.near);
    for (std::uint64_t i = 1; i <= (stride > 1 ? 2 : 1) * range_.near; ++i) {
      const auto value = neighbour(i <= range_.near ? i : (i - range_.near) * stride);
      if (!value || at(*value) == Trial::refused) break;
      if (at(*value) == Trial::fits) return value;
    }
    return std::nullopt;
  }

  const SearchRange& range_;
  const Try& tried_;
  bool upwards_;
  std::optional<std::uint64_t> good_, bad_;
  std::unordered_map<std::uint64_t, Trial> known_;
};

SearchEnd search(const SearchRange& range, const Try& tried, bool upwards) {
  Search search(range, tried, upwards);
  return search.gallop() ? search.end() : SearchEnd{};
}

}  // namespace

SearchEnd largest_that_fits(const SearchRange& range, const Try& tried) {
  return search(range, tried, true);
}

SearchEnd smallest_that_fits(const SearchRange& range, const Try& tried) {
  return search(range, tried, false);
}

}  // namespace ullage::planner
