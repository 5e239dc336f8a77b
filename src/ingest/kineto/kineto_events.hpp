// SPDX-License-Identifier: Apache-2.0
// Internal to the Kineto reader: takes the parser's tokens, one event after the other, and keeps what is needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/kineto/kineto.hpp"

namespace ullage::ingest {

/// A handler for rapidjson::Reader with numbers as text.
class KinetoEvents {
 public:
  KinetoEvents(KinetoTrace& out, const KinetoOptions& options) : out_(out), options_(options) {}

  bool Null() { return scalar("null", false); }
  bool Bool(bool value) { return scalar(value ? "true" : "false", false); }
  bool Int(int) { return true; }
  bool Uint(unsigned) { return true; }
  bool Int64(std::int64_t) { return true; }
  bool Uint64(std::uint64_t) { return true; }
  bool Double(double) { return true; }
  bool RawNumber(const char* text, unsigned size, bool) { return scalar({text, size}, false); }
  bool String(const char* text, unsigned size, bool) { return scalar({text, size}, true); }
  bool Key(const char* text, unsigned size, bool);
  bool StartObject();
  bool EndObject(unsigned);
  bool StartArray();
  bool EndArray(unsigned);

  [[nodiscard]] bool saw_events() const { return saw_events_; }

 private:
  enum class Field : std::uint8_t {
    unknown,
    name,
    phase,
    category,
    thread,
    time,
    duration,
    arguments,  // of an event
    external,
    sequence,
    forward_thread,
    shapes,
    stack,
    device_type,
    device,
    bytes,
    address,
    allocated,
    reserved,  // of args
    trace_events,
    base_time,
    profile_memory,
    device_properties,
    own_note,  // of the document
  };
  struct Event {
    std::string name, category, shapes, stack;
    char phase = 0;
    std::uint64_t thread = 0, external = 0, address = 0, allocated = 0, reserved = 0;
    std::int64_t time = 0, duration = 0, sequence = -1, forward_thread = 0, bytes = 0, device = -1;
    std::int64_t device_type = 0;
    bool has_time = false, has_bytes = false, has_address = false, has_totals = false;
  };

  static Field event_field(std::string_view key);
  static Field argument_field(std::string_view key);
  static Field document_field(std::string_view key);
  bool scalar(std::string_view text, bool quoted);
  void take_event_value(std::string_view text);
  void take_argument(std::string_view text);
  void take_document_value(std::string_view text);
  void take_device(std::string_view text);
  void write_nested(std::string_view text, bool quoted);
  void finish_event();
  void finish_call(timeline::CallKind kind);
  void finish_memory();

  KinetoTrace& out_;
  const KinetoOptions& options_;
  int depth_ = 0;
  int events_depth_ = -1;  ///< depth inside the list of events
  bool saw_events_ = false;
  Field field_ = Field::unknown;
  std::string device_key_;
  std::string* nested_ = nullptr;  ///< where a list is being written as text
  Event event_;
};

}  // namespace ullage::ingest
