// SPDX-License-Identifier: Apache-2.0
#include "ledger/difference.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ullage::ledger {
namespace {

Line leaf(std::string id, std::uint64_t bytes) {
  return {id, id, bytes, KnownBy::executed, AttributedBy::nothing, {}, 0};
}

Line random_tree(const std::string& id, int depth) {
  const int count = depth == 0 ? 0 : *rc::gen::inRange(0, 4);
  if (count == 0) return leaf(id, *rc::gen::inRange<std::uint64_t>(0, 1000));
  std::vector<Line> children;
  for (int i = 0; i < count; ++i) children.push_back(random_tree(id + "/" + std::to_string(i * 2 % 5), depth - 1));
  return sum_line(id, id, KnownBy::executed, std::move(children));
}

void check_sums(const Difference& line) {
  if (line.children.empty()) return;
  std::int64_t sum = 0;
  for (const Difference& child : line.children) {
    sum += child.bytes();
    check_sums(child);
  }
  RC_ASSERT(sum == line.bytes());
}

TEST(Difference, SumsAreTheDifferenceOfTheTotals) {
  EXPECT_TRUE(rc::check("of any two ledgers", [] {
    const Line before = random_tree("used", 3), after = random_tree("used", 3);
    const Difference found = difference(before, after);
    RC_ASSERT(found.bytes() == static_cast<std::int64_t>(after.bytes - before.bytes));
    check_sums(found);
    std::int64_t sum = 0;
    for (const Difference& line : changed_leaves(found)) sum += line.bytes();
    RC_ASSERT(sum == found.bytes());
  }));
}

TEST(Difference, LinesAreAddedGrownShrunkOrGoneAndSortedByEffect) {
  const Line before =
      sum_line("used", "used", KnownBy::executed, {leaf("a", 10), leaf("b", 100), leaf("c", 5), leaf("same", 7)});
  const Line after =
      sum_line("used", "used", KnownBy::executed, {leaf("a", 20), leaf("b", 1), leaf("d", 50), leaf("same", 7)});
  const auto lines = changed_leaves(difference(before, after));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].id, "b");
  EXPECT_EQ(lines[0].change, Change::shrunk);
  EXPECT_EQ(lines[1].change, Change::added);
  EXPECT_EQ(lines[2].change, Change::grown);
  EXPECT_EQ(lines[3].change, Change::gone);
}

}  // namespace
}  // namespace ullage::ledger
