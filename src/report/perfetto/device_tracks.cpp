// SPDX-License-Identifier: Apache-2.0
#include "report/perfetto/device_tracks.hpp"

#include "base/bytes.hpp"
#include "ledger/texts.hpp"
#include "ledger/totals_over_time.hpp"
#include "report/phase_text.hpp"
#include "report/time_text.hpp"

#include <algorithm>
#include <numeric>

namespace ullage::report::perfetto {
namespace {

using attribution::PhaseSpan;
using ledger::Totals;
using timeline::AllocationId;

constexpr std::size_t most_groups = 50'000;  // of two points each
constexpr std::size_t most_allocations = 100;
constexpr std::uint64_t large_bytes = std::uint64_t{1} << 20;
constexpr std::uint32_t steps_row = 1, phases_row = 2, ranges_row = 3, failed_row = 4, large_row = 5;

class DeviceTracks {
 public:
  DeviceTracks(const DeviceHistory& history, std::optional<std::int64_t> origin_ns, EventWriter& out)
      : history_(history), out_(out), process_(static_cast<std::uint32_t>(history.timeline->device) + 1) {
    learn_times(origin_ns);
    learn_curves();
  }

  void run() {
    out_.name_process(process_, "memory of device " + std::to_string(history_.timeline->device));
    write_curves();
    write_phases();
    write_steps();
    write_ranges();
    write_failed();
    write_large();
  }

 private:
  // Rising times: a clock that was set back must not tear the picture. An event without one has that before it.
  void learn_times(std::optional<std::int64_t> origin_ns) {
    times_.resize(history_.timeline->events.count());
    std::int64_t last = origin_ns.value_or(0);
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (!origin_ns) last = static_cast<std::int64_t>(i) * 1000;
      if (const auto time = nanoseconds_at(history_, i)) last = std::max(last, *time);
      times_[i] = last;
    }
  }

  [[nodiscard]] std::int64_t time(std::size_t event) const {
    if (times_.empty()) return 0;
    return times_[std::min(event, times_.size() - 1)];
  }

  void learn_curves() {
    for (const auto& label : history_.labels->of) drawn_[static_cast<std::size_t>(label.category)] = true;
  }

  // --- curves ---

  void write_curves() {
    ledger::TotalsOverTime walk(*history_.timeline, *history_.initial, *history_.allocations, *history_.labels,
                                history_.reserved);
    const std::size_t events = history_.timeline->events.count();
    const std::size_t group = std::max<std::size_t>(1, (events + most_groups - 1) / most_groups);
    write_point(walk.now(), time(0));
    while (walk.position() < events) write_group(walk, std::min(group, events - walk.position()));
  }

  // Of a group of events its highest moment and its end.
  void write_group(ledger::TotalsOverTime& walk, std::size_t events) {
    Totals highest;
    std::size_t at = walk.position();
    for (std::size_t i = 0; i < events; ++i) {
      walk.step();
      if (i > 0 && walk.now().allocated <= highest.allocated) continue;
      highest = walk.now();
      at = walk.position() - 1;
    }
    write_point(highest, time(at));
    write_point(walk.now(), time(walk.position() - 1));
  }

  void write_point(const Totals& totals, std::int64_t time_ns) {
    const Field allocated[] = {{"bytes", totals.allocated}}, reserved[] = {{"bytes", totals.reserved}};
    if (!any_point_ || totals.allocated != last_.allocated) out_.counter(process_, "allocated", time_ns, allocated);
    if (!any_point_ || totals.reserved != last_.reserved) out_.counter(process_, "reserved", time_ns, reserved);
    if (!any_point_ || totals.of != last_.of || totals.rounding != last_.rounding) write_owners(totals, time_ns);
    last_ = totals;
    any_point_ = true;
  }

  void write_owners(const Totals& totals, std::int64_t time_ns) {
    std::vector<Field> owners;
    for (std::size_t i = 0; i < attribution::categories; ++i) {
      if (drawn_[i]) owners.push_back({attribution::name_of(static_cast<attribution::Category>(i)), totals.of[i]});
    }
    owners.push_back({"rounding to blocks", totals.rounding});
    out_.counter(process_, "allocated:", time_ns, owners);
  }

  // --- ranges ---

  void write_phases() {
    if (!history_.phases.empty()) out_.name_thread({process_, phases_row}, "phases");
    for (const PhaseSpan& phase : history_.phases) {
      out_.slice({process_, phases_row}, phase_title(phase), "phase", time(phase.begin), time(phase.end));
    }
  }

  void write_steps() {
    const auto& phases = history_.phases;
    bool named = false;
    for (std::size_t i = 0; i < phases.size();) {
      std::size_t last = i;
      while (last + 1 < phases.size() && phases[last + 1].step == phases[i].step) ++last;
      if (phases[i].step > 0) {
        if (!named) out_.name_thread({process_, steps_row}, "steps");
        named = true;
        out_.slice({process_, steps_row}, "step " + std::to_string(phases[i].step), "step", time(phases[i].begin),
                   time(phases[last].end));
      }
      i = last + 1;
    }
  }

  void write_ranges() {
    if (!history_.annotations.empty()) out_.name_thread({process_, ranges_row}, "record_function");
    for (const attribution::Annotation& annotation : history_.annotations) {
      if (const auto at = time_of(annotation))
        out_.border({process_, ranges_row}, annotation.name, annotation.start, *at);
    }
  }

  // --- single moments ---

  void write_failed() {
    const timeline::Events& events = history_.timeline->events;
    bool named = false;
    for (std::size_t i = 0; i < events.count(); ++i) {
      if (events.action[i] != timeline::Action::oom) continue;
      if (!named) out_.name_thread({process_, failed_row}, "out of memory");
      named = true;
      out_.instant({process_, failed_row}, "out of memory: " + format_bytes(events.size[i]) + " requested", time(i),
                   {{"requested_bytes", events.size[i]}, {"line", lines_.of(events.stack[i])}});
    }
  }

  // In the order of their birth.
  [[nodiscard]] std::vector<AllocationId> largest() const {
    const timeline::Allocations& all = *history_.allocations;
    std::vector<AllocationId> ids;
    for (auto id = static_cast<AllocationId>(all.before_trace); id < all.count(); ++id) {
      if (all.size[id] >= large_bytes) ids.push_back(id);
    }
    const auto larger = [&](AllocationId a, AllocationId b) {
      return all.size[a] != all.size[b] ? all.size[a] > all.size[b] : a < b;
    };
    const std::size_t kept = std::min(ids.size(), most_allocations);
    std::ranges::partial_sort(ids, ids.begin() + static_cast<std::ptrdiff_t>(kept), larger);
    ids.resize(kept);
    std::ranges::sort(ids);
    return ids;
  }

  void write_large() {
    const auto ids = largest();
    if (!ids.empty()) out_.name_thread({process_, large_row}, "largest allocations");
    for (const AllocationId id : ids) {
      const attribution::Label& label = history_.labels->of[id];
      const auto text = [&](timeline::StringId string) { return history_.labels->strings.text(string); };
      out_.instant({process_, large_row}, format_bytes(history_.allocations->size[id]),
                   time(history_.allocations->born[id]),
                   {{"bytes", history_.allocations->size[id]},
                    {"category", attribution::id_of(label.category)},
                    {"kind", text(label.kind)},
                    {"tensor", text(label.name)},
                    {"module", text(label.module)},
                    {"operator", text(label.operation)},
                    {"line", lines_.of(history_.allocations->stack[id])}});
    }
  }

  const DeviceHistory& history_;
  EventWriter& out_;
  std::uint32_t process_;
  ledger::LineTexts lines_{*history_.timeline};
  std::vector<std::int64_t> times_;
  bool drawn_[attribution::categories] = {};
  Totals last_;
  bool any_point_ = false;
};

}  // namespace

std::optional<std::int64_t> time_of(const attribution::Annotation& annotation) {
  constexpr std::int64_t latest_us = std::int64_t{1} << 52;
  if (annotation.time_us <= 0 || annotation.time_us > latest_us) return std::nullopt;
  return annotation.time_us * 1000;
}

void write_device(const DeviceHistory& history, std::optional<std::int64_t> origin_ns, EventWriter& out) {
  DeviceTracks(history, origin_ns, out).run();
}

}  // namespace ullage::report::perfetto
