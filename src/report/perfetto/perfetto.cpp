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
    for (const std::int64_t time : counter.series->time_ns) see(clock_time(0, time));
  }
  if (view.trace != nullptr) see(perfetto::first_call(*view.trace));
  return first;
}

void write_counters(const ExportView& view, EventWriter& out) {
  constexpr std::uint32_t process = 1;
  if (!view.counters.empty()) out.name_process(process, "counters");
  for (const CounterSeries& counter : view.counters) {
    std::string name = counter.gpu.empty() ? counter.name : counter.name + " of GPU " + counter.gpu;
    if (!counter.pid.empty()) name += ", process " + counter.pid + " " + counter.process;
    for (std::size_t i = 0; i < counter.series->count(); ++i) {
      const Field bytes[] = {{"bytes", counter.series->value[i]}};
      const auto time = clock_time(0, counter.series->time_ns[i]);
      if (time) out.counter(process, name, *time, bytes);
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
  write_counters(view, out);
  out.end();
  sink.flush();
}

}  // namespace ullage::report
