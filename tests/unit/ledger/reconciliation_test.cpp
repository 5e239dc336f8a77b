// SPDX-License-Identifier: Apache-2.0
#include "ledger/reconciliation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ullage::ledger {
namespace {

Line leaf(std::string id, std::uint64_t bytes) {
  return {id, id, bytes, KnownBy::executed, AttributedBy::nothing, {}, 0};
}

Line sum(std::string id, std::vector<Line> lines) {
  return sum_line(id, id, KnownBy::executed, std::move(lines));
}

const JoinedLine* find(const JoinedLine& line, const std::string& id) {
  if (line.id == id) return &line;
  for (const JoinedLine& child : line.children)
    if (const JoinedLine* found = find(child, id)) return found;
  return nullptr;
}

/// Ids may come twice among the children of a line, as a file from elsewhere may have them.
Line random_tree(const std::string& id, int depth) {
  const int count = depth == 0 ? 0 : *rc::gen::inRange(0, 4);
  if (count == 0) return leaf(id, *rc::gen::inRange<std::uint64_t>(0, 1000));
  std::vector<Line> children;
  for (int i = 0; i < count; ++i)
    children.push_back(random_tree(id + "/" + std::to_string(*rc::gen::inRange(0, 3)), depth - 1));
  return sum(id, std::move(children));
}

TEST(Reconciliation, EveryColumnAddsUpAndHasItsOwnTotal) {
  EXPECT_TRUE(rc::check("of any ledgers", [] {
    std::vector<Line> ledgers;
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i)
      ledgers.push_back(sum("used", {random_tree("context", 1), random_tree("reserved", 3)}));
    const Joined joined = join(ledgers);
    RC_ASSERT(check(joined.root).empty());
    std::vector<std::uint64_t> sums(ledgers.size());
    for (const JoinedLine* line : leaves(joined.root))
      for (std::size_t column = 0; column < ledgers.size(); ++column) sums[column] += line->bytes[column];
    for (std::size_t column = 0; column < ledgers.size(); ++column) {
      RC_ASSERT(joined.root.bytes[column] == ledgers[column].bytes);
      RC_ASSERT(sums[column] == ledgers[column].bytes);
    }
  }));
}

TEST(Reconciliation, ALineThatOneDoesNotDrillIsDrilledInNone) {
  const Line deep = sum("reserved", {sum("activations", {leaf("activations/a", 3), leaf("activations/b", 4)})});
  const Line flat = sum("reserved", {leaf("activations", 9)});
  const Joined joined = join({deep, flat});
  const JoinedLine* line = find(joined.root, "activations");
  ASSERT_NE(line, nullptr);
  EXPECT_TRUE(line->children.empty());
  EXPECT_EQ(line->difference(0, 1), 2);
}

TEST(Reconciliation, BelowTheChartLinesAreTheSameByName) {
  Line plan = sum("used", {leaf("context", 1), sum("reserved", {sum("activations", {leaf("activations.h.*", 3)})})});
  Line run = sum("used", {leaf("context", 1), sum("reserved", {sum("activations", {leaf("activations/h.*", 5)})})});
  plan.children[1].children[0].children[0].name = run.children[1].children[0].children[0].name = "h.*";
  const Joined joined = join({plan, run});
  const auto all = leaves(joined.root);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1]->bytes, (std::vector<std::uint64_t>{3, 5}));
}

TEST(Reconciliation, PartsOfLayersAreTheSameInAPlanAndARun) {
  const auto chart = [](std::vector<Line> modules) {
    return sum("used", {sum("reserved", {sum("temporaries", std::move(modules)), leaf("cached", 1)})});
  };
  Line plan = chart({sum("h.*.mlp", {leaf("aten::tanh", 6)}), leaf("the model itself", 3), leaf("lm_head", 2)});
  Line run = chart(
      {leaf("h.*.mlp.act", 4), leaf("h.*.mlp", 2), leaf("Model", 1), leaf("[outside modules]", 2), leaf("lm_head", 2)});
  by_parts_of_layers(plan);
  by_parts_of_layers(run);
  const Joined joined = join({plan, run});
  EXPECT_TRUE(check(joined.root).empty());
  for (const JoinedLine* line : leaves(joined.root)) EXPECT_EQ(line->difference(0, 1), 0) << line->name;
  EXPECT_EQ(leaves(joined.root).size(), 4u);
}

TEST(Reconciliation, ComparedIsWhatEverySourceShows) {
  const Line device = sum("used", {leaf("context", 7), sum("reserved", {leaf("parameters", 3), leaf("cached", 1)})});
  const Line memory = sum("reserved", {leaf("parameters", 3), leaf("cached", 2)});
  const Line trace = sum("allocated", {leaf("parameters", 3)});
  const Joined two = join({device, memory});
  EXPECT_EQ(two.root.id, "reserved");
  EXPECT_EQ(two.root.bytes, (std::vector<std::uint64_t>{4, 5}));
  EXPECT_EQ(two.notes.size(), 1u);
  const Joined three = join({device, memory, trace});
  EXPECT_EQ(three.root.id, "allocated");
  EXPECT_EQ(three.root.bytes, (std::vector<std::uint64_t>{3, 3, 3}));
  EXPECT_EQ(three.notes.size(), 2u);
}

TEST(Reconciliation, TheContextIsOutsideWhereOneDoesNotTellItApart) {
  const Line rehearsed = sum("used", {leaf("context", 7), leaf("reserved", 3), leaf("outside_pytorch", 1)});
  const Line measured = sum("used", {leaf("reserved", 3), leaf("outside_pytorch", 9)});
  const Joined joined = join({rehearsed, measured});
  EXPECT_EQ(find(joined.root, "context"), nullptr);
  EXPECT_EQ(find(joined.root, "outside_pytorch")->bytes, (std::vector<std::uint64_t>{8, 9}));
  EXPECT_TRUE(check(joined.root).empty());
}

}  // namespace
}  // namespace ullage::ledger
