// SPDX-License-Identifier: Apache-2.0
#include "ledger/texts.hpp"
#include "report/export_view.hpp"
#include "report/json/json_writer.hpp"
#include "report/time_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ullage::report {
namespace {

using timeline::AllocationId;
using timeline::Allocations;

/// One row after the other; the first field of a row has no comma before it.
class Rows {
 public:
  explicit Rows(Sink& sink) : sink_(sink) {}

  void cell(std::string_view text) {
    if (!first_) sink_.put(',');
    first_ = false;
    if (text.empty()) return;
    std::string clean = clean_utf8(text);
    std::ranges::replace(clean, '\0', ' ');  // readers of CSV stop there
    text.find_first_of(",\"\r\n") == text.npos ? sink_.put(clean) : quoted(clean);
  }
  void cell(std::uint64_t number) { cell(fmt::format("{}", number)); }
  void cell() { cell(std::string_view()); }
  void end() {
    sink_.put('\n');
    first_ = true;
  }

 private:
  void quoted(const std::string& text) {
    sink_.put('"');
    for (const char c : text) {
      if (c == '"') sink_.put('"');
      sink_.put(c);
    }
    sink_.put('"');
  }

  Sink& sink_;
  bool first_ = true;
};

class DeviceRows {
 public:
  DeviceRows(const DeviceHistory& history, Rows& rows) : history_(history), rows_(rows), lines_(*history.timeline) {}

  void write(std::uint64_t first_id) {
    for (AllocationId id = 0; id < history_.allocations->count(); ++id) write_row(id, first_id + id);
  }

 private:
  void write_row(AllocationId id, std::uint64_t number) {
    const Allocations& all = *history_.allocations;
    rows_.cell(number);
    rows_.cell(static_cast<std::uint64_t>(history_.timeline->device));
    write_stream(id);
    rows_.cell(fmt::format("{:#x}", all.address[id]));
    !history_.blocks_only&& all.requested[id] > 0 ? rows_.cell(all.requested[id]) : rows_.cell();
    rows_.cell(all.size[id]);
    const std::optional<std::uint32_t> born = all.older(id) ? std::nullopt : std::optional(all.born[id]);
    const std::optional<std::uint32_t> freed = freed_of(id);
    born ? rows_.cell(*born) : rows_.cell();
    freed ? rows_.cell(*freed) : rows_.cell();
    rows_.cell(born ? time_at(history_, *born) : "");
    rows_.cell(freed ? time_at(history_, *freed) : "");
    write_phase(born);
    write_label(id);
    rows_.end();
  }

  // The end of what was already being freed before the first event is not in the source.
  [[nodiscard]] std::optional<std::uint32_t> freed_of(AllocationId id) const {
    const Allocations& all = *history_.allocations;
    if (all.freed[id] == Allocations::never || all.freed[id] >= history_.timeline->events.count()) return std::nullopt;
    return all.freed[id];
  }

  void write_stream(AllocationId id) {
    const std::uint32_t index = history_.allocations->stream[id];
    const bool known =
        !history_.blocks_only && !history_.allocations->older(id) && index < history_.timeline->streams.size();
    known ? rows_.cell(fmt::format("{}", static_cast<std::int64_t>(history_.timeline->streams[index]))) : rows_.cell();
  }

  void write_phase(std::optional<std::uint32_t> born) {
    if (!born || history_.phases.empty()) {
      rows_.cell();
      rows_.cell();
      return;
    }
    const attribution::PhaseSpan& phase = history_.phases[attribution::phase_at(history_.phases, *born)];
    rows_.cell(attribution::name_of(phase.name));
    phase.step > 0 ? rows_.cell(phase.step) : rows_.cell();
  }

  void write_label(AllocationId id) {
    const attribution::Label& label = history_.labels->of[id];
    const auto text = [&](timeline::StringId string) { return history_.labels->strings.text(string); };
    rows_.cell(attribution::id_of(label.category));
    rows_.cell(text(label.kind));
    rows_.cell(text(label.module));
    rows_.cell(text(label.operation));
    rows_.cell(text(label.name));
    rows_.cell(lines_.of(history_.allocations->stack[id]));
    rows_.cell(attribution::name_of(label.by));
  }

  const DeviceHistory& history_;
  Rows& rows_;
  ledger::LineTexts lines_;
};

void write_series(const CounterSeries& counter, Rows& rows) {
  for (std::size_t i = 0; i < counter.series->count(); ++i) {
    for (const auto* text : {&counter.name, &counter.gpu, &counter.pid, &counter.process}) rows.cell(*text);
    rows.cell(i);
    rows.cell(counter.has_times && counter.series->time_ns[i] >= 0 ? microseconds(counter.series->time_ns[i]) : "");
    rows.cell(counter.series->value[i]);
    rows.end();
  }
}

}  // namespace

void write_csv(const ExportView& view, Sink& sink) {
  Rows rows(sink);
  if (!view.devices.empty())
    sink.put(
        "id,device,stream,address,requested_bytes,block_bytes,born_event,freed_event,born_us,freed_us,phase,step,"
        "category,kind,module,operator,tensor,line,attributed_by\n");
  std::uint64_t first_id = 0;
  for (const DeviceHistory& device : view.devices) {
    DeviceRows(device, rows).write(first_id);
    first_id += device.allocations->count();
  }
  if (!view.counters.empty()) sink.put("counter,gpu,pid,process,sample,time_us,bytes\n");
  for (const CounterSeries& counter : view.counters) write_series(counter, rows);
  sink.flush();
}

}  // namespace ullage::report
