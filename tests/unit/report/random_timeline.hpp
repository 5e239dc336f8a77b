// SPDX-License-Identifier: Apache-2.0
// Timelines whose every field is arbitrary, and their comparison.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "timeline/timeline.hpp"

namespace ullage::test {

using namespace timeline;

inline std::string random_text() {
  const std::vector<std::string> pieces = {"a",    "/", "\"", "\\", ",", "\n", "\r", "\t",
                                           "\x01", "é", "字", "😀",  " ", "{",  "0"};
  std::string text;
  for (const auto& piece : *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) text += piece;
  return *rc::gen::inRange(0, 8) == 0 ? text + std::string(300, 'x') : text;
}

inline std::uint64_t random_number() {
  return *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64);
}

inline StackId random_stack(Timeline& t) {
  std::vector<FrameId> frames(static_cast<std::size_t>(*rc::gen::inRange(0, 4)));
  for (FrameId& frame : frames) {
    const std::string file = random_text(), name = random_text();
    frame =
        t.stacks.intern_frame({t.strings.intern(file), t.strings.intern(name), *rc::gen::arbitrary<std::uint32_t>()});
  }
  return t.stacks.intern(frames);
}

inline void add_random_segment(Timeline& t, std::uint64_t address) {
  Segment segment{address,
                  random_number(),
                  t.stream_index(random_number()),
                  *rc::gen::arbitrary<bool>(),
                  *rc::gen::arbitrary<bool>(),
                  t.blocks.size(),
                  static_cast<std::size_t>(*rc::gen::inRange(0, 4))};
  for (std::size_t i = 0; i < segment.block_count; ++i)
    t.blocks.push_back({random_number(), random_number(), random_number() * *rc::gen::arbitrary<bool>(),
                        static_cast<BlockState>(*rc::gen::inRange(0, 3)), random_stack(t)});
  t.segments.push_back(segment);
}

inline Timeline random_timeline(int device) {
  Timeline t;
  t.device = device;
  const int events = *rc::gen::inRange(0, 40);
  std::vector<std::uint64_t> addresses(8);
  for (auto& address : addresses) address = random_number();
  for (int i = 0; i < events; ++i) {
    const auto action = static_cast<Action>(*rc::gen::inRange(0, 10));
    t.events.push_back({action, *rc::gen::elementOf(addresses), random_number(), t.stream_index(random_number()),
                        *rc::gen::arbitrary<std::int64_t>(), random_stack(t)});
  }
  std::vector<std::uint64_t> starts(static_cast<std::size_t>(*rc::gen::inRange(0, 5)));
  for (auto& start : starts) start = random_number();
  std::ranges::sort(starts);
  for (const std::uint64_t start : starts) add_random_segment(t, start);
  if (*rc::gen::arbitrary<bool>()) t.settings.max_split_bytes = 1 + random_number() / 2;
  t.settings.expandable_segments = *rc::gen::arbitrary<bool>();
  for (auto& divisions : t.settings.roundup_power2_divisions) divisions = *rc::gen::inRange(0U, 65537U);
  t.overflowed = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) t.max_entries = random_number();
  return t;
}

inline std::vector<std::string> stack_texts(const Timeline& t, StackId stack) {
  std::vector<std::string> lines;
  for (const FrameId id : t.stacks.stack(stack)) {
    const Frame& frame = t.stacks.frame(id);
    lines.push_back(std::string(t.strings.text(frame.file)) + ":" + std::to_string(frame.line) + ":" +
                    std::string(t.strings.text(frame.name)));
  }
  return lines;
}

/// What differs first; empty when nothing does. Numbers of streams and stacks may differ, what they stand for may not.
inline std::string difference(const Timeline& a, const Timeline& b) {
  const auto at = [](const char* what, std::size_t i) { return std::string(what) + " " + std::to_string(i); };
  if (a.device != b.device) return "device";
  if (a.events.count() != b.events.count()) return "events";
  for (std::size_t i = 0; i < a.events.count(); ++i) {
    const Event x = a.events.at(i), y = b.events.at(i);
    if (x.action != y.action || x.address != y.address || x.size != y.size || x.time_us != y.time_us ||
        a.streams[x.stream] != b.streams[y.stream] || stack_texts(a, x.stack) != stack_texts(b, y.stack))
      return at("event", i);
  }
  if (a.segments.size() != b.segments.size() || a.blocks.size() != b.blocks.size()) return "segments or blocks";
  for (std::size_t i = 0; i < a.segments.size(); ++i) {
    const Segment &x = a.segments[i], &y = b.segments[i];
    if (x.address != y.address || x.bytes != y.bytes || x.small != y.small || x.expandable != y.expandable ||
        x.first_block != y.first_block || x.block_count != y.block_count || a.streams[x.stream] != b.streams[y.stream])
      return at("segment", i);
  }
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    const Block &x = a.blocks[i], &y = b.blocks[i];
    if (x.address != y.address || x.size != y.size || x.requested != y.requested || x.state != y.state ||
        stack_texts(a, x.stack) != stack_texts(b, y.stack))
      return at("block", i);
  }
  const AllocatorSettings &x = a.settings, &y = b.settings;
  if (x.max_split_bytes != y.max_split_bytes || x.expandable_segments != y.expandable_segments ||
      x.roundup_power2_divisions != y.roundup_power2_divisions)
    return "settings";
  return a.overflowed != b.overflowed || a.max_entries != b.max_entries ? "overflow" : "";
}

}  // namespace ullage::test
