// SPDX-License-Identifier: Apache-2.0
// Writes device.ulog: records are buffered and appended; a file that cannot be written to never disturbs the script.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ulog.hpp"

namespace ullage::vgpu {

/// Kinds of ulog::Name.
enum class NameKind : std::uint16_t { kernel = 1, line = 2, function = 3, library = 4 };

/// Not thread-safe; the machine locks. Before open() records are kept in memory; after close() they are counted only.
class EventLog {
 public:
  ~EventLog();
  EventLog() = default;
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// Starts the file; false when it cannot be made.
  bool open(const std::string& path);
  /// From now on nothing is kept (a process that does not own the run, a fork).
  void disable();
  /// After a fork: the file is the parent's.
  void forget();
  bool enabled() const { return !disabled_; }

  /// Id of a name, written to the log at its first use; 0 for an empty text.
  std::uint32_t name(NameKind kind, std::string_view text);
  /// The same for a string that never moves or changes: looked up by its address.
  std::uint32_t static_name(NameKind kind, const char* text);

  template <class Payload>
  void add(ulog::RecordType type, std::uint64_t time_ns, const Payload& payload, std::uint16_t flags = 0) {
    static_assert(sizeof(Payload) % 8 == 0);
    append(type, flags, time_ns, &payload, sizeof(Payload));
  }

  void flush();
  std::uint64_t dropped() const { return dropped_; }

 private:
  void append(ulog::RecordType type, std::uint16_t flags, std::uint64_t time_ns, const void* payload,
              std::size_t bytes);

  int file_ = -1;
  bool disabled_ = false;
  std::uint64_t dropped_ = 0;
  std::vector<char> buffer_;
  std::map<std::pair<std::uint16_t, std::string>, std::uint32_t, std::less<>> names_;
  std::unordered_map<const void*, std::uint32_t> static_names_;
  std::uint32_t next_name_ = 1;
};

}  // namespace ullage::vgpu
