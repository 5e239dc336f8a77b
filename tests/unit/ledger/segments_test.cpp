// SPDX-License-Identifier: Apache-2.0
#include "ledger/segments.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "../report/random_timeline.hpp"
#include "base/bytes.hpp"
#include "random_run.hpp"

namespace ullage::ledger {
namespace {

using attribution::AttributedBy;
using attribution::Category;
using timeline::Action;
using timeline::BlockState;

struct Scene {
  timeline::Timeline t;
  timeline::InitialState initial;
  timeline::Allocations allocations;
  attribution::Labels labels;

  void add(Action action, std::uint64_t address, std::uint64_t size, std::uint64_t stream = 7) {
    t.events.push_back({action, address, size, t.stream_index(stream), 0, timeline::no_stack});
  }
  void free(std::uint64_t address, std::uint64_t size, bool completed = true) {
    add(Action::free_requested, address, size);
    if (completed) add(Action::free_completed, address, size);
  }
  /// The owners of the allocations, in order; those beyond have none. Without `initial` the device was empty.
  void label(std::vector<attribution::Label> own) {
    allocations = timeline::allocations(t, initial);
    labels.of = std::move(own);
    labels.of.resize(allocations.count());
  }
  [[nodiscard]] Segments at(std::size_t events) const {
    Cut cut;
    cut.timeline = &t, cut.allocations = &allocations, cut.labels = &labels, cut.events = events;
    return segments_at(cut, initial);
  }
  attribution::Label of(Category category, const char* module, const char* operation = "") {
    return {category, AttributedBy::module, 0, labels.strings.intern(module), labels.strings.intern(operation), 0};
  }
};

constexpr std::uint64_t first = 0x7f0000000000, second = first + gib, small = first + 2 * gib;

/// Two segments of 20 MiB, held by a few MiB each, and a small one that is full; then 16 MiB are refused.
Scene fragmented() {
  Scene s;
  s.add(Action::segment_alloc, first, 20 * mib);
  s.add(Action::alloc, first, 12 * mib);
  s.add(Action::alloc, first + 12 * mib, 8 * mib);
  s.add(Action::segment_alloc, second, 20 * mib);
  s.add(Action::alloc, second, 4 * mib);
  s.add(Action::alloc, second + 4 * mib, 16 * mib);
  s.add(Action::segment_alloc, small, 2 * mib, 9);
  s.add(Action::alloc, small, 1 * mib, 9);
  s.add(Action::alloc, small + mib, 1 * mib, 9);
  s.free(first, 12 * mib);
  s.free(second + 4 * mib, 16 * mib);
  s.add(Action::oom, 0, 17 * mib);
  s.label({s.of(Category::temporaries, ""), s.of(Category::activations, "h.0.mlp", "aten::gelu"),
           s.of(Category::activations, "h.1.mlp", "aten::gelu"), s.of(Category::temporaries, "")});
  return s;
}

TEST(Segments, TheMostIdleStandFirstWithTheirHoles) {
  const Scene s = fragmented();
  const Segments all = s.at(s.t.events.count() - 1);
  ASSERT_EQ(all.segments.size(), 3U);
  EXPECT_EQ(all.segments[0].address, second);
  EXPECT_EQ(all.segments[0].largest_hole, 16 * mib);
  EXPECT_EQ(all.segments[0].idle(), 16 * mib);
  EXPECT_EQ(all.segments[1].address, first);
  EXPECT_EQ(all.segments[1].blocks[0].state, BlockState::inactive);
  EXPECT_EQ(all.segments[1].blocks[1].offset, 12 * mib);
  EXPECT_EQ(all.segments[2].idle(), 0U);
  EXPECT_TRUE(all.segments[2].small);
  EXPECT_EQ(all.segments[2].stream, 9U);
  EXPECT_EQ(all.reserved, 42 * mib);
  EXPECT_EQ(all.allocated, 14 * mib);
  EXPECT_EQ(all.holes, 28 * mib);
}

TEST(Segments, ARefusedRequestIsComparedWithTheHolesThatItCouldUse) {
  Scene s = fragmented();
  EXPECT_FALSE(s.at(s.t.events.count() - 2).request);
  const RefusedRequest request = *s.at(s.t.events.count() - 1).request;
  EXPECT_EQ(request.bytes, 17 * mib);
  EXPECT_EQ(request.largest_hole, 16 * mib);
  EXPECT_EQ(request.holes, 28 * mib);
  s.t.events.stream.back() = s.t.stream_index(9);
  EXPECT_EQ(s.at(s.t.events.count() - 1).request->holes, 0U);
}

TEST(Segments, TheSameModuleOfAllLayersPinsAsOne) {
  const Scene s = fragmented();
  const Segments all = s.at(s.t.events.count() - 1);
  ASSERT_EQ(all.segments[1].pinned_by.size(), 1U);
  EXPECT_EQ(all.segments[1].pinned_by[0].bytes, 8 * mib);
  ASSERT_EQ(all.pinned_by.size(), 1U);
  EXPECT_EQ(all.pinned_by[0].segments, 2U);
  EXPECT_EQ(all.pinned_by[0].idle, 28 * mib);
  EXPECT_EQ(all.pinned_by[0].pin.bytes, 12 * mib);
  EXPECT_EQ(all.owners[all.pinned_by[0].pin.owner].layers, "h.*.mlp, aten::gelu");
  EXPECT_EQ(all.owners[all.segments[0].blocks[0].owner].what, "h.1.mlp, aten::gelu");
}

TEST(Segments, WhatIsMoreThanHalfUsedIsPinnedByNobody) {
  Scene s;
  for (const auto& [address, kept] : {std::pair{first, 10 * mib}, std::pair{second, 11 * mib}}) {
    s.add(Action::segment_alloc, address, 20 * mib);
    s.add(Action::alloc, address, kept);
  }
  s.label({});
  const Segments all = s.at(4);
  EXPECT_EQ(all.segments[0].pinned_by.size(), 1U);
  EXPECT_TRUE(all.segments[1].pinned_by.empty());
}

TEST(Segments, WhatWaitsForAnotherStreamIsNoHoleYet) {
  Scene s;
  s.add(Action::segment_alloc, first, 20 * mib);
  s.add(Action::alloc, first, 12 * mib);
  s.free(first, 12 * mib, false);
  s.label({s.of(Category::inputs, "")});
  const Segments all = s.at(3);
  EXPECT_EQ(all.idle(), 20 * mib);
  EXPECT_EQ(all.holes, 8 * mib);
  ASSERT_EQ(all.segments[0].pinned_by.size(), 1U);
  EXPECT_EQ(all.segments[0].pinned_by[0].bytes, 12 * mib);
}

TEST(Segments, TheStreamAndThePoolAreThoseOfTheMoment) {
  Scene s;
  s.t.settings.expandable_segments = true;
  s.add(Action::segment_map, first, 20 * mib, 1);
  s.add(Action::segment_map, first + 20 * mib, 20 * mib, 1);
  s.add(Action::alloc, first + 2 * mib, 38 * mib, 1);
  s.add(Action::segment_unmap, first, 2 * mib, 1);
  s.add(Action::segment_map, second, 2 * mib, 2);
  s.add(Action::alloc, second, 512, 2);
  s.label({});
  const Segments all = s.at(s.t.events.count());
  ASSERT_EQ(all.segments.size(), 2U);
  EXPECT_EQ(all.segments[0].address, second);
  EXPECT_EQ(all.segments[0].stream, 2U);
  EXPECT_TRUE(all.segments[0].small);
  EXPECT_EQ(all.segments[1].address, first + 2 * mib);
  EXPECT_EQ(all.segments[1].stream, 1U);
  EXPECT_FALSE(all.segments[1].small);
}

Scene scene_of(timeline::Timeline t) {
  Scene s;
  s.t = std::move(t);
  s.initial = timeline::settled_initial_state(s.t);
  s.label({});
  return s;
}

TEST(Segments, AlwaysAddUp) {
  EXPECT_TRUE(rc::check("blocks to segments, segments to the counters, at every moment", [] {
    timeline::AllocatorSimulator simulator = timeline::random_run();
    simulator.finish(0);
    const Scene s = scene_of(std::move(simulator.timeline));
    for (std::size_t cut = 1; cut <= simulator.after.size(); ++cut) {
      const Segments all = s.at(cut);
      RC_ASSERT(check(all).empty());
      RC_ASSERT(all.reserved == simulator.after[cut - 1].reserved);
      RC_ASSERT(all.allocated == simulator.after[cut - 1].allocated);
      RC_ASSERT(all.reserved - all.holes == simulator.after[cut - 1].active);
      RC_ASSERT(all.outside == 0U);
    }
  }));
}

TEST(Segments, AddUpWhateverTheSourceSays) {
  EXPECT_TRUE(rc::check("arbitrary events and segments", [] {
    const Scene s = scene_of(test::random_timeline(0));
    const std::size_t cut = *rc::gen::inRange<std::size_t>(0, s.t.events.count() + 1);
    RC_ASSERT(check(s.at(cut)).empty());
  }));
}

}  // namespace
}  // namespace ullage::ledger
