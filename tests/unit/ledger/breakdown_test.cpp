// SPDX-License-Identifier: Apache-2.0
#include "ledger/breakdown.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ullage::ledger {
namespace {

using attribution::Category;
using attribution::Label;

struct World {
  timeline::Timeline timeline;
  timeline::Allocations allocations;
  attribution::Labels labels;

  void add(std::uint64_t requested, std::uint64_t size, Label label, std::uint32_t born = 0) {
    allocations.address.push_back(512 * (allocations.count() + 1));
    allocations.requested.push_back(requested);
    allocations.size.push_back(size);
    allocations.born.push_back(born);
    allocations.freed.push_back(timeline::Allocations::never);
    allocations.completed.push_back(timeline::Allocations::never);
    allocations.stream.push_back(0);
    allocations.stack.push_back(timeline::no_stack);
    labels.of.push_back(label);
  }
  [[nodiscard]] Cut cut(std::uint64_t reserved) const {
    Cut result;
    result.timeline = &timeline;
    result.allocations = &allocations;
    result.labels = &labels;
    result.events = 1;
    result.reserved = reserved;
    result.whole_device = true;
    result.context = 100;
    result.outside = 7;
    return result;
  }
  Label label(Category category, AttributedBy by, const char* module = "", const char* operation = "") {
    return {category, by, 0, labels.strings.intern(module), labels.strings.intern(operation), 0};
  }
};

TEST(Breakdown, AlwaysAddsUp) {
  EXPECT_TRUE(rc::check("children add up, folded or not", [] {
    World world;
    const char* modules[] = {"", "h.0.attn", "h.1.attn", "h.1.mlp"};
    std::uint64_t allocated = 0;
    for (int i = *rc::gen::inRange(0, 40); i > 0; --i) {
      const auto size = *rc::gen::inRange<std::uint64_t>(1, 100) * 512;
      allocated += size;
      const auto category = static_cast<Category>(*rc::gen::inRange(0, 9));
      world.add(size - *rc::gen::inRange<std::uint64_t>(0, 512), size,
                world.label(category, static_cast<AttributedBy>(*rc::gen::inRange(0, 7)),
                            modules[*rc::gen::inRange(0, 4)], modules[*rc::gen::inRange(0, 4)]));
    }
    const auto slack = *rc::gen::inRange<std::uint64_t>(0, 5000);
    constexpr Level levels[] = {Level::kind, Level::layer, Level::module, Level::operation, Level::line, Level::tensor};
    Line line = chart(world.cut(allocated + slack), levels);
    RC_ASSERT(check(line).empty());
    RC_ASSERT(line.bytes == allocated + slack + 107);
    RC_ASSERT(find(line, "cached")->bytes == slack);
    fold(line, 2);
    RC_ASSERT(check(line).empty());
    RC_ASSERT(line.bytes == allocated + slack + 107);
  }));
}

TEST(Breakdown, ALineIsKnownAsWellAsItsWeakestPart) {
  World world;
  world.add(512, 512, world.label(Category::activations, AttributedBy::module, "a"));
  world.add(512, 512, world.label(Category::activations, AttributedBy::lifetime));
  const Line line = chart(world.cut(2048), {});
  EXPECT_EQ(find(line, "activations")->attributed_by, AttributedBy::lifetime);
}

TEST(Breakdown, TheSameModuleOfAllLayersIsOneLine) {
  World world;
  world.add(512, 512, world.label(Category::activations, AttributedBy::module, "h.0.attn"));
  world.add(512, 512, world.label(Category::activations, AttributedBy::module, "h.11.attn"));
  constexpr Level levels[] = {Level::layer};
  const Line line = chart(world.cut(2048), levels);
  ASSERT_NE(find(line, "activations/h.*.attn"), nullptr);
  EXPECT_EQ(find(line, "activations/h.*.attn")->bytes, 1024u);
}

}  // namespace
}  // namespace ullage::ledger
