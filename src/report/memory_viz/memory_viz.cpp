// SPDX-License-Identifier: Apache-2.0
#include "report/export_view.hpp"
#include "report/json/json_writer.hpp"
#include "report/memory_viz/device_writer.hpp"
#include "report/memory_viz/pickle_writer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ullage::report {
namespace {

using memory_viz::DeviceWriter;
using memory_viz::Words;
using timeline::AllocatorSettings;

class SnapshotWriter {
 public:
  SnapshotWriter(const ExportView& view, Sink& sink) : view_(view), out_(sink) {
    writers_.reserve(view.devices.size());
    for (const DeviceHistory& device : view.devices) writers_.emplace_back(device, out_, words_);
  }

  void run() {
    out_.begin_dict();
    write_segments();
    write_traces();
    write_annotations();
    write_settings();
    write_overflow();
    out_.end_dict();
    out_.finish();
  }

 private:
  // Lists of the format have an entry for each device number, also for those that have nothing.
  template <class Write>
  void for_each_number(const char* key, Write write) {
    out_.text(key);
    out_.begin_list();
    int number = 0;
    for (std::size_t i = 0; i < view_.devices.size(); ++i) {
      for (; number <= view_.devices[i].timeline->device; ++number) {
        out_.next_item();
        write(number == view_.devices[i].timeline->device ? &writers_[i] : nullptr);
      }
    }
    out_.end_list();
  }

  void write_segments() {
    out_.text("segments");
    out_.begin_list();
    for (DeviceWriter& writer : writers_) writer.write_segments();
    out_.end_list();
  }

  void write_traces() {
    for_each_number("device_traces", [&](DeviceWriter* writer) {
      out_.begin_list();
      if (writer != nullptr) writer->write_events();
      out_.end_list();
    });
  }

  void write_annotations() {
    out_.text("external_annotations");
    out_.begin_list();
    for (const DeviceHistory& device : view_.devices) {
      for (const attribution::Annotation& annotation : device.annotations) {
        out_.next_item();
        out_.begin_dict();
        out_.word(words_.name);
        out_.text(clean_utf8(annotation.name));
        out_.word(words_.stage);
        out_.text(annotation.start ? "START" : "END");
        out_.word(words_.device);
        out_.integer(static_cast<std::int64_t>(device.timeline->device));
        out_.word(words_.time_us);
        out_.integer(annotation.time_us);
        out_.end_dict();
      }
    }
    out_.end_list();
  }

  void write_settings() {
    const AllocatorSettings settings =
        view_.devices.empty() ? AllocatorSettings{} : view_.devices.front().timeline->settings;
    out_.text("allocator_settings");
    out_.begin_dict();
    out_.text("max_split_size");
    const bool limited = settings.max_split_bytes <= static_cast<std::uint64_t>(INT64_MAX);
    out_.integer(limited ? static_cast<std::int64_t>(settings.max_split_bytes) : std::int64_t{-1});
    out_.text("expandable_segments");
    out_.boolean(settings.expandable_segments);
    out_.text("roundup_power2_divisions");
    out_.begin_dict();
    for (std::size_t slot = 0; slot < settings.roundup_power2_divisions.size(); ++slot) {
      out_.text(std::to_string(1U << slot));
      out_.integer(std::uint64_t{settings.roundup_power2_divisions[slot]});
    }
    out_.end_dict();
    out_.end_dict();
  }

  void write_overflow() {
    for_each_number("trace_alloc_overflowed",
                    [&](DeviceWriter* writer) { out_.boolean(writer != nullptr && writer->timeline().overflowed); });
    for_each_number("trace_alloc_max_entries", [&](DeviceWriter* writer) {
      if (writer != nullptr && writer->timeline().max_entries)
        out_.integer(*writer->timeline().max_entries);
      else
        out_.none();
    });
  }

  const ExportView& view_;
  PickleWriter out_;
  Words words_;
  std::vector<DeviceWriter> writers_;
};

}  // namespace

void write_memory_viz(const ExportView& view, Sink& sink) {
  SnapshotWriter(view, sink).run();
  sink.flush();
}

}  // namespace ullage::report
