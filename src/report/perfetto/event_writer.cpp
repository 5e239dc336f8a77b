// SPDX-License-Identifier: Apache-2.0
#include "report/perfetto/event_writer.hpp"

#include "report/json/json_writer.hpp"
#include "report/time_text.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>

namespace ullage::report::perfetto {

struct EventWriter::Json {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer{buffer};

  [[nodiscard]] std::string_view text() const { return {buffer.GetString(), buffer.GetSize()}; }
  void key(std::string_view text) { writer.Key(text.data(), static_cast<rapidjson::SizeType>(text.size())); }
  void string(std::string_view text) {
    const std::string clean = clean_utf8(text);
    writer.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
  }
};

EventWriter::EventWriter(Sink& sink, std::int64_t origin_ns)
    : sink_(sink), origin_ns_(origin_ns), json_(std::make_unique<Json>()) {}

EventWriter::~EventWriter() = default;

void EventWriter::begin(std::span<const Field> facts) {
  write_object(facts);
  sink_.put("{\"displayTimeUnit\":\"ms\",\"otherData\":");
  sink_.put(json_->text());
  sink_.put(",\"traceEvents\":[");
}

void EventWriter::end() {
  sink_.put("\n]}\n");
}

// --- parts of an event ---

void EventWriter::write_object(std::span<const Field> fields) {
  json_->writer.StartObject();
  for (const Field& field : fields) {
    const auto* text = std::get_if<std::string_view>(&field.value);
    if (text != nullptr && text->empty()) continue;
    json_->key(field.name);
    if (text != nullptr)
      json_->string(*text);
    else
      json_->writer.Uint64(std::get<std::uint64_t>(field.value));
  }
  json_->writer.EndObject();
}

void EventWriter::open(std::string_view kind, std::string_view name, Track track) {
  json_->buffer.Clear();
  json_->writer.Reset(json_->buffer);
  json_->writer.StartObject();
  json_->key("ph");
  json_->string(kind);
  json_->key("name");
  json_->string(name);
  json_->key("pid");
  json_->writer.Uint(track.process);
  json_->key("tid");
  json_->writer.Uint(track.thread);
}

void EventWriter::time(std::string_view key, std::int64_t nanoseconds) {
  const std::string text = microseconds(nanoseconds);
  json_->key(key);
  json_->writer.RawValue(text.data(), text.size(), rapidjson::kNumberType);
}

void EventWriter::arguments(std::span<const Field> fields) {
  if (fields.empty()) return;
  json_->key("args");
  write_object(fields);
}

void EventWriter::close() {
  json_->writer.EndObject();
  sink_.put(first_ ? "\n" : ",\n");
  sink_.put(json_->text());
  first_ = false;
}

// --- events ---

void EventWriter::name(const char* what, Track track, std::string_view name) {
  open("M", what, track);
  const Field fields[] = {{"name", name}};
  arguments(fields);
  close();
}

void EventWriter::name_process(std::uint32_t process, std::string_view text) {
  name("process_name", {process, 0}, text);
}

void EventWriter::name_thread(Track track, std::string_view text) {
  name("thread_name", track, text);
}

void EventWriter::counter(std::uint32_t process, std::string_view name, std::int64_t time_ns,
                          std::span<const Field> curves) {
  open("C", name, {process, 0});
  time("ts", time_ns - origin_ns_);
  arguments(curves);
  close();
}

void EventWriter::slice(Track track, std::string_view name, std::string_view category, std::int64_t begin_ns,
                        std::int64_t end_ns, std::initializer_list<Field> fields) {
  open("X", name, track);
  json_->key("cat");
  json_->string(category);
  time("ts", begin_ns - origin_ns_);
  time("dur", std::max(end_ns, begin_ns) - begin_ns);
  arguments({fields.begin(), fields.size()});
  close();
}

void EventWriter::border(Track track, std::string_view name, bool start, std::int64_t time_ns) {
  open(start ? "B" : "E", name, track);
  time("ts", time_ns - origin_ns_);
  close();
}

void EventWriter::instant(Track track, std::string_view name, std::int64_t time_ns,
                          std::initializer_list<Field> fields) {
  open("i", name, track);
  time("ts", time_ns - origin_ns_);
  json_->key("s");
  json_->string("t");
  arguments({fields.begin(), fields.size()});
  close();
}

}  // namespace ullage::report::perfetto
