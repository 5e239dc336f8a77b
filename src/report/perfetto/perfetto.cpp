// SPDX-License-Identifier: Apache-2.0
#include "report/export_view.hpp"
#include "report/perfetto/calls.hpp"
#include "report/perfetto/device_tracks.hpp"
#include "report/perfetto/event_writer.hpp"
#include "report/time_text.hpp"

#include <algorithm>

namespace ullage::report {
namespace {

using perfetto::EventWriter;
using perfetto::Field;

// What is older than the recording has a time below 0.
std::optional<std::int64_t> time_of(const CounterSeries& counter, std::size_t sample) {
  const std::int64_t time_ns = counter.series->time_ns[sample];
  return counter.has_times && time_ns >= 0 ? clock_time(0, time_ns) : std::nullopt;
}

// The first time of all that is drawn; nothing when the source has no times.
std::optional<std::int64_t> origin_of(const ExportView& view) {
  std::optional<std::int64_t> first;
  const auto see = [&first](std::optional<std::int64_t> time) {
    if (time && (!first || *time < *first)) first = time;
  };
  for (const DeviceHistory& device : view.devices) {
    for (std::size_t i = 0; i < device.timeline->events.count(); ++i) see(nanoseconds_at(device, i));
    for (const auto& annotation : device.annotations) see(perfetto::time_of(annotation));
  }
  for (const CounterSeries& counter : view.counters) {
    for (std::size_t i = 0; i < counter.series->count(); ++i) see(time_of(counter, i));
  }
  if (view.trace != nullptr) see(perfetto::first_call(*view.trace));
  return first;
}

void write_counters(const ExportView& view, std::optional<std::int64_t> origin, EventWriter& out) {
  constexpr std::uint32_t process = 1;
  if (!view.counters.empty()) out.name_process(process, "counters");
  for (const CounterSeries& counter : view.counters) {
    std::string name = counter.gpu.empty() ? counter.name : counter.name + " of GPU " + counter.gpu;
    if (!counter.pid.empty()) name += ", process " + counter.pid + " " + counter.process;
    for (std::size_t i = 0; i < counter.series->count(); ++i) {
      const Field bytes[] = {{"bytes", counter.series->value[i]}};
      const std::int64_t without = origin.value_or(static_cast<std::int64_t>(i) * 1000);
      out.counter(process, name, time_of(counter, i).value_or(without), bytes);
    }
  }
}

}  // namespace

void write_perfetto(const ExportView& view, Sink& sink) {
  const auto origin = origin_of(view);
  EventWriter out(sink, origin.value_or(0));
  const std::string origin_text = origin ? microseconds(*origin) : "";
  const Field facts[] = {{"source", view.source},
                         {"producer", view.producer},
                         {"time_origin_us", origin_text},
                         {"clock", origin ? "" : "the source has no times; an event takes a microsecond here"}};
  out.begin(facts);
  for (const DeviceHistory& device : view.devices) perfetto::write_device(device, origin, out);
  if (view.trace != nullptr) perfetto::write_calls(*view.trace, out);
  write_counters(view, origin, out);
  out.end();
  sink.flush();
}

}  // namespace ullage::report
