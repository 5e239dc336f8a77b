// SPDX-License-Identifier: Apache-2.0
// Timeline: what an allocator did, in order, as columns; it knows nothing about where it came from.
// One Timeline is of one process and one device. All sizes are bytes, all times microseconds of the source's clock.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "timeline/size_rules.hpp"

namespace ullage::timeline {

/// What an event is. A free is asked for first and done later: `free_requested` lowers the allocated bytes, the block
/// can be used again only after `free_completed` (they differ when other streams still use the block).
enum class Action : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  oom,
  snapshot,
  other,  ///< an action this version does not know; kept so that positions stay right
};

using StringId = std::uint32_t;
using FrameId = std::uint32_t;
using StackId = std::uint32_t;
inline constexpr StackId no_stack = 0;  ///< the empty stack

/// Interned texts, numbered from 0; 0 is the empty text. Not copyable: the index points into the texts.
class StringTable {
 public:
  StringTable();
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;

  StringId intern(std::string_view text);
  [[nodiscard]] std::string_view text(StringId id) const { return texts_[id]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, StringId> index_;
};

/// One line of a call stack.
struct Frame {
  StringId file = 0;
  StringId name = 0;
  std::uint32_t line = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};

/// Interned frames and stacks; stack 0 is empty. A stack lists its innermost frame first.
class StackTable {
 public:
  StackTable();
  FrameId intern_frame(const Frame& frame);
  StackId intern(std::span<const FrameId> frames);
  [[nodiscard]] const Frame& frame(FrameId id) const { return frames_[id]; }
  [[nodiscard]] std::span<const FrameId> stack(StackId id) const {
    return std::span(flat_).subspan(begin_[id], begin_[id + 1] - begin_[id]);
  }
  [[nodiscard]] std::size_t frame_count() const { return frames_.size(); }
  [[nodiscard]] std::size_t stack_count() const { return begin_.size() - 1; }

 private:
  struct FrameHash {
    std::size_t operator()(const Frame& f) const;
  };
  std::vector<Frame> frames_;
  std::unordered_map<Frame, FrameId, FrameHash> frame_index_;
  std::vector<FrameId> flat_;
  std::vector<std::size_t> begin_;
  std::unordered_multimap<std::uint64_t, StackId> stack_index_;
};

/// One event, for appending and reading; the columns below are the storage.
struct Event {
  Action action = Action::other;
  std::uint64_t address = 0;  ///< oom: the bytes that the device had free, 0 when not known
  std::uint64_t size = 0;     ///< alloc and free: requested bytes; segment_*: the segment's; oom: the refused bytes
  std::uint32_t stream = 0;   ///< index into Timeline::streams
  std::int64_t time_us = 0;   ///< 0 when the source gives none
  StackId stack = no_stack;
};

/// The events as a struct of arrays; all columns have the same length.
struct Events {
  std::vector<Action> action;
  std::vector<std::uint64_t> address;
  std::vector<std::uint64_t> size;
  std::vector<std::uint32_t> stream;
  std::vector<std::int64_t> time_us;
  std::vector<StackId> stack;

  void push_back(const Event& event);
  void reserve(std::size_t count);
  [[nodiscard]] std::size_t count() const { return action.size(); }
  [[nodiscard]] Event at(std::size_t index) const;
};

enum class BlockState : std::uint8_t { inactive, allocated, pending_free };

/// A block of a segment, as the source states it at the end of the events.
struct Block {
  std::uint64_t address = 0;
  std::uint64_t size = 0;       ///< exact, rounding included
  std::uint64_t requested = 0;  ///< 0 when not known
  BlockState state = BlockState::inactive;
  StackId stack = no_stack;
};

/// A segment (one cudaMalloc, or one contiguous mapped range of an expandable segment) at the end of the events.
struct Segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t stream = 0;  ///< index into Timeline::streams
  bool small = false;        ///< of the small pool
  bool expandable = false;
  std::size_t first_block = 0;  ///< its blocks are Timeline::blocks[first_block, first_block + block_count)
  std::size_t block_count = 0;
};

struct Timeline {
  int device = 0;
  Events events;
  std::vector<std::uint64_t> streams;  ///< the source's own stream numbers
  StringTable strings;
  StackTable stacks;
  std::vector<Segment> segments;  ///< the state after the last event, sorted by address
  std::vector<Block> blocks;
  AllocatorSettings settings;
  bool overflowed = false;                   ///< the source's ring was full: the oldest events are lost
  std::optional<std::uint64_t> max_entries;  ///< size of the ring, when the source says it

  /// Index of the stream in `streams`, added when new.
  std::uint32_t stream_index(std::uint64_t stream);
  /// The source's own number of the stream at an index; 0 where the source states none.
  [[nodiscard]] std::uint64_t stream_number(std::uint32_t index) const {
    return index < streams.size() ? streams[index] : 0;
  }
};

/// Index of the last request that failed; nothing when none did.
std::optional<std::size_t> last_out_of_memory(const Timeline& timeline);

/// Where in a stack a person would look.
struct UserLine {
  std::optional<FrameId> outside_torch;     ///< innermost Python frame that is not in site-packages/torch or frozen
  std::optional<FrameId> outside_packages;  ///< innermost Python frame that is in no installed package
};

/// The line of code of a stack: skips C and C++ frames, files under site-packages/torch (or dist-packages/torch) and
/// `<frozen ...>`. Both are empty for a backward thread, which has no Python frame (formats.md §0).
UserLine user_line(const Timeline& timeline, StackId stack);

/// The outermost Python frame that is in no installed package; nothing when there is none.
std::optional<FrameId> outermost_own_frame(const Timeline& timeline, StackId stack);

/// The frame that calls the outermost module: the innermost Python frame outside torch around the outermost frame of
/// torch/nn/modules/module.py. Nothing when no module is on the stack.
std::optional<FrameId> module_call(const Timeline& timeline, StackId stack);

}  // namespace ullage::timeline
