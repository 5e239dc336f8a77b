// SPDX-License-Identifier: Apache-2.0
// Writes pickles of protocol 2 for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "timeline/timeline.hpp"

namespace ullage::test {

class PickleWriter {
 public:
  PickleWriter() { out_ = "\x80\x02"; }
  PickleWriter& op(char code) {
    out_ += code;
    return *this;
  }
  PickleWriter& text(std::string_view text) {
    out_ += 'X';
    number(static_cast<std::uint32_t>(text.size()));
    out_ += text;
    return *this;
  }
  PickleWriter& integer(std::uint64_t value) {
    out_ += "\x8a\x09";
    number(value);
    out_ += '\0';
    return *this;
  }
  PickleWriter& pair(std::string_view key, std::uint64_t value) { return text(key).integer(value); }
  PickleWriter& pair(std::string_view key, std::string_view value) { return text(key).text(value); }
  std::string finish() { return out_ + '.'; }

 private:
  template <class T>
  void number(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out_.append(bytes, sizeof(T));
  }
  std::string out_;
};

inline std::string_view name_of(timeline::Action action) {
  constexpr std::string_view names[] = {"alloc",        "free_requested", "free_completed", "segment_alloc",
                                        "segment_free", "segment_map",    "segment_unmap",  "oom",
                                        "snapshot"};
  return names[static_cast<std::size_t>(action)];
}

inline std::string_view name_of(timeline::BlockState state) {
  constexpr std::string_view names[] = {"inactive", "active_allocated", "active_pending_free"};
  return names[static_cast<std::size_t>(state)];
}

/// A snapshot of one device, as PyTorch would write it.
inline std::string snapshot_pickle(const timeline::Timeline& t) {
  PickleWriter w;
  w.op('}').op('(').text("segments").op(']').op('(');
  for (const timeline::Segment& segment : t.segments) {
    w.op('}')
        .op('(')
        .pair("device", std::uint64_t{0})
        .pair("address", segment.address)
        .pair("total_size", segment.bytes);
    w.pair("segment_type", segment.small ? "small" : "large")
        .text("is_expandable")
        .op(segment.expandable ? '\x88' : '\x89');
    w.text("blocks").op(']').op('(');
    for (std::size_t i = 0; i < segment.block_count; ++i) {
      const timeline::Block& block = t.blocks[segment.first_block + i];
      w.op('}').op('(').pair("address", block.address).pair("size", block.size).pair("requested_size", block.requested);
      w.pair("state", name_of(block.state)).op('u');
    }
    w.op('e').op('u');
  }
  w.op('e').text("device_traces").op(']').op(']').op('(');
  for (std::size_t i = 0; i < t.events.count(); ++i) {
    const timeline::Event e = t.events.at(i);
    w.op('}').op('(').pair("action", name_of(e.action)).pair("addr", e.address).pair("size", e.size).op('u');
  }
  w.op('e').op('a').text("allocator_settings").op('}').op('(').text("expandable_segments");
  w.op(t.settings.expandable_segments ? '\x88' : '\x89').op('u').op('u');
  return w.finish();
}

}  // namespace ullage::test
