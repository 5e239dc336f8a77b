// SPDX-License-Identifier: Apache-2.0
#include "ledger/chart.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ullage::ledger {
namespace {

Line tree(int depth) {
  Line line{
      "id" + std::to_string(*rc::gen::inRange(0, 1000000)), "", *rc::gen::inRange<std::uint64_t>(0, 1000), {}, {}, {}};
  const int children = depth == 0 ? 0 : *rc::gen::inRange(0, 4);
  std::vector<Line> list;
  for (int i = 0; i < children; ++i) list.push_back(tree(depth - 1));
  return list.empty() ? line : sum_line(line.id, "", KnownBy::measured, std::move(list));
}

Line* first_parent(Line& line) {
  return line.children.empty() ? nullptr : &line;
}

TEST(Chart, SumsAlwaysPassTheCheckAndWrongOnesNever) {
  EXPECT_TRUE(rc::check("adds up", [] {
    Line line = tree(4);
    RC_ASSERT(check(line).empty());
    if (Line* parent = first_parent(line)) {
      parent->bytes += *rc::gen::inRange<std::uint64_t>(1, 100);
      RC_ASSERT(check(line).size() == 1u);
    }
  }));
}

TEST(Chart, ASumOver64BitsIsAViolation) {
  const Line huge{"a", "", ~0ull, {}, {}, {}};
  EXPECT_EQ(check(sum_line("root", "", KnownBy::measured, {huge, huge})).size(), 1u);
}

TEST(Chart, FindsLinesById) {
  const Line root =
      sum_line("root", "", KnownBy::measured, {sum_line("b", "", KnownBy::measured, {{"c", "", 5, {}, {}, {}}})});
  EXPECT_EQ(find(root, "c")->bytes, 5u);
  EXPECT_EQ(find(root, "d"), nullptr);
}

}  // namespace
}  // namespace ullage::ledger
