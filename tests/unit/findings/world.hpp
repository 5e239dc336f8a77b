// SPDX-License-Identifier: Apache-2.0
// Allocations with labels, made by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "findings/rule.hpp"

namespace ullage::findings {

struct World {
  static constexpr std::uint32_t never = timeline::Allocations::never;
  timeline::Timeline timeline;
  timeline::Allocations allocations;
  attribution::Labels labels;
  std::vector<attribution::PhaseSpan> phases;
  std::size_t peak_events = 1;

  /// `born` and `freed` are numbers of events.
  void add(std::uint64_t bytes, Category category, const std::string& module, const char* operation,
           const char* kind = "", std::uint32_t born = 0, std::uint32_t freed = never, const char* name = "") {
    allocations.address.push_back(512 * (allocations.count() + 1));
    allocations.requested.push_back(bytes);
    allocations.size.push_back(bytes);
    allocations.born.push_back(born);
    allocations.freed.push_back(freed);
    allocations.completed.push_back(freed);
    allocations.stream.push_back(0);
    allocations.stack.push_back(timeline::no_stack);
    labels.of.push_back({category, attribution::AttributedBy::module, labels.strings.intern(kind),
                         labels.strings.intern(module), labels.strings.intern(operation), labels.strings.intern(name)});
  }
  [[nodiscard]] ledger::Cut cut() const {
    ledger::Cut result;
    result.timeline = &timeline;
    result.allocations = &allocations;
    result.labels = &labels;
    result.events = peak_events;
    result.reserved = 1 << 30;
    return result;
  }
  [[nodiscard]] Facts facts() const {
    Facts result;
    result.peak = cut();
    result.phases = phases;
    return result;
  }
  [[nodiscard]] std::vector<Finding> find(const char* id) const {
    const Subject subject(facts());
    const Rule* rule = rule_of(id);
    return rule->find(*rule, subject);
  }
};

}  // namespace ullage::findings
