// SPDX-License-Identifier: Apache-2.0
// Internal to the Perfetto view: the events of Chrome's trace format, one a line. Format: "Trace Event Format" of the
// Chromium project, as ui.perfetto.dev reads it.
#pragma once

#include "report/sink.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace ullage::report::perfetto {

struct Field {
  std::string_view name;
  std::variant<std::uint64_t, std::string_view> value;  ///< empty texts are left out
};

/// A row of the picture.
struct Track {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};

/// Times are nanoseconds on one clock, written as microseconds after `origin_ns`.
class EventWriter {
 public:
  EventWriter(Sink& sink, std::int64_t origin_ns);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  void begin(std::span<const Field> facts);  ///< about the whole
  void end();

  void name_process(std::uint32_t process, std::string_view name);
  void name_thread(Track track, std::string_view name);
  /// Each field is a curve.
  void counter(std::uint32_t process, std::string_view name, std::int64_t time_ns, std::span<const Field> curves);
  void slice(Track track, std::string_view name, std::string_view category, std::int64_t begin_ns, std::int64_t end_ns,
             std::initializer_list<Field> fields = {});
  void border(Track track, std::string_view name, bool start, std::int64_t time_ns);
  void instant(Track track, std::string_view name, std::int64_t time_ns, std::initializer_list<Field> fields);

 private:
  struct Json;
  void open(std::string_view kind, std::string_view name, Track track);
  void time(std::string_view key, std::int64_t nanoseconds);
  void arguments(std::span<const Field> fields);
  void write_object(std::span<const Field> fields);
  void name(const char* what, Track track, std::string_view name);
  void close();

  Sink& sink_;
  std::int64_t origin_ns_;
  std::unique_ptr<Json> json_;
  bool first_ = true;
};

}  // namespace ullage::report::perfetto
