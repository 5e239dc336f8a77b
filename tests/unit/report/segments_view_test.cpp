// SPDX-License-Identifier: Apache-2.0
#include "report/segments_view.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "report/text/segment_bar.hpp"

namespace ullage::report {
namespace {

using attribution::Category;
using ledger::no_owner;
using timeline::BlockState;

ledger::OwnedSegment segment(std::uint64_t bytes, std::vector<ledger::OwnedBlock> blocks) {
  ledger::OwnedSegment result;
  result.bytes = bytes;
  for (ledger::OwnedBlock& block : blocks) {
    block.offset = result.blocks.empty() ? 0 : result.blocks.back().offset + result.blocks.back().bytes;
    if (block.state == BlockState::allocated) result.allocated += block.bytes;
    if (block.state == BlockState::inactive) {
      result.holes += block.bytes;
      result.largest_hole = std::max(result.largest_hole, block.bytes);
    }
    result.blocks.push_back(block);
  }
  return result;
}

ledger::OwnedBlock used(std::uint64_t bytes, std::size_t owner, BlockState state = BlockState::allocated) {
  return {0, bytes, bytes, state, owner};
}

ledger::OwnedBlock hole(std::uint64_t bytes) {
  return {0, bytes, 0, BlockState::inactive, no_owner};
}

/// Segments of 64 MiB: three half used, one with a little of two owners, one of a stream's leftovers, two full.
SegmentsView example() {
  SegmentsView view;
  view.source = "run", view.producer = "rehearsal", view.moment = "the last failed request", view.device = 0;
  view.peak_allocated = 256 * mib, view.peak_reserved = 448 * mib;
  ledger::Segments& all = view.segments;
  all.owners = {{Category::parameters, "h.0.weight", "h.*.weight", ""},
                {Category::activations, "h.0.attn, aten::softmax", "h.*.attn, aten::softmax", "gpt.py:7 attend"}};
  all.segments.push_back(segment(64 * mib, {used(mib, 1), hole(62 * mib), used(mib / 2, 0), hole(mib / 2)}));
  all.segments.back().pinned_by = {{1, mib}, {0, mib / 2}};
  all.segments.push_back(segment(64 * mib, {used(16 * mib, 0, BlockState::pending_free), hole(48 * mib)}));
  all.segments.back().pinned_by = {{0, 16 * mib}};
  for (int i = 0; i < 3; ++i) {
    all.segments.push_back(segment(64 * mib, {used(32 * mib, 0), hole(32 * mib)}));
    all.segments.back().pinned_by = {{0, 32 * mib}};
  }
  for (int i = 0; i < 2; ++i) all.segments.push_back(segment(64 * mib, {used(64 * mib, 1)}));
  for (const auto& part : all.segments)
    all.reserved += part.bytes, all.allocated += part.allocated, all.holes += part.holes;
  all.largest_hole = 62 * mib;
  all.pinned_by = {{{0, 112 * mib + mib / 2}, 5, 222 * mib + mib / 2}, {{1, mib}, 1, 62 * mib + mib / 2}};
  all.request = ledger::RefusedRequest{96 * mib, 0, false, all.holes, all.largest_hole};
  return view;
}

TEST(SegmentsView, ReadsAsAPage) {
  EXPECT_EQ(segments_text(example()), R"(run: rehearsal, device 0
peak: 256.00 MiB allocated, 448.00 MiB reserved

SEGMENTS at the last failed request
448.00 MiB reserved: 225.50 MiB allocated, 222.50 MiB idle, the largest hole 62.00 MiB; 7 segments: 7 large, 0 small; on stream 0; none expandable
16.00 MiB of the idle bytes were freed, but are in use on another stream
a request of 96.00 MiB failed; the largest hole is 62.00 MiB, all holes together 206.50 MiB

          size  pool   stream  blocks                              used  largest hole  pinned by
1 x  64.00 MiB  large       0  A..............................p   2.3 %     62.00 MiB  1.00 MiB activations, h.*.attn, aten::softmax (gpt.py:7 attend); 512.00 KiB parameters, h.*.weight
1 x  64.00 MiB  large       0  ~~~~~~~~........................   0.0 %     48.00 MiB  16.00 MiB parameters, h.*.weight
3 x  64.00 MiB  large       0  PPPPPPPPPPPPPPPP................  50.0 %     32.00 MiB  32.00 MiB parameters, h.*.weight
2 more segments, full: 128.00 MiB
P parameters, A activations, ~ freed, but in use on another stream, . free; a small letter: less than half of the part is used

IDLE in segments of which half or more lies idle; one with several owners counts for each
pinned by                                               segments  idle in them   own bytes
parameters, h.*.weight                                         5    222.50 MiB  112.50 MiB
activations, h.*.attn, aten::softmax (gpt.py:7 attend)         1     62.50 MiB    1.00 MiB
)");
}

TEST(SegmentsView, ShowsTheFirstRowsAndAddsUpTheOthers) {
  SegmentsView view = example();
  view.top = 1;
  const std::string text = segments_text(view);
  EXPECT_NE(text.find("4 more segments: 256.00 MiB, 160.00 MiB of it idle\n"), std::string::npos) << text;
  EXPECT_NE(text.find("2 more segments, full: 128.00 MiB\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 more owner\n"), std::string::npos) << text;
}

TEST(SegmentBar, ACharacterIsAnEqualPartOfTheSegment) {
  EXPECT_TRUE(rc::check("32 characters; free parts are dots, full ones capital letters", [] {
    ledger::Segments all;
    for (std::size_t i = 0; i < attribution::categories; ++i)
      all.owners.push_back({static_cast<Category>(i), "", "", ""});
    std::vector<ledger::OwnedBlock> blocks;
    std::uint64_t bytes = 0;
    for (int i = *rc::gen::inRange(1, 30); i > 0; --i) {
      const auto size = *rc::gen::inRange<std::uint64_t>(1, 1000) * 512;
      const auto owner = *rc::gen::inRange<std::size_t>(0, attribution::categories);
      blocks.push_back(*rc::gen::arbitrary<bool>() ? used(size, owner) : hole(size));
      bytes += size;
    }
    const std::string bar = segment_bar(segment(bytes, blocks), all);
    RC_ASSERT(bar.size() == 32U);
    const bool all_free = std::ranges::all_of(blocks, [](const auto& b) { return b.owner == no_owner; });
    RC_ASSERT((bar == std::string(32, '.')) == all_free);
    const bool full = std::ranges::none_of(blocks, [](const auto& b) { return b.owner == no_owner; });
    if (full) RC_ASSERT(std::ranges::all_of(bar, [](char c) { return c >= 'A' && c <= 'Z'; }));
  }));
}

}  // namespace
}  // namespace ullage::report
