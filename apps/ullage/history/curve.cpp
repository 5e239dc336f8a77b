// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/curve.hpp"

#include "base/text.hpp"
#include "ingest/run_directory/run_directory.hpp"
#include "timeline/block_replay.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

constexpr std::size_t width = 96;

std::size_t column_of(std::size_t position, std::size_t positions, std::size_t columns) {
  return std::min(columns - 1, position * columns / std::max<std::size_t>(positions, 1));
}

void raise(report::CurveColumn& column, std::uint64_t allocated, std::uint64_t reserved) {
  column.allocated = std::max(column.allocated, allocated);
  column.reserved = std::max(column.reserved, reserved);
}

std::string mark_text(std::uint32_t step) {
  return step == 0 ? "load" : std::to_string(step);
}

void replay_into(report::Curve& curve, const ingest::RunDirectory& run) {
  const timeline::Timeline& timeline = run.snapshot->timeline;
  timeline::BlockReplay replay(timeline, run.join.initial);
  const std::size_t events = timeline.events.count();
  while (replay.step())
    raise(curve.columns[column_of(replay.position() - 1, events, curve.columns.size())], replay.now().allocated,
          replay.now().reserved);
}

/// Where each step begins: at its first mark.
void mark_steps(report::Curve& curve, const ingest::RunDirectory& run) {
  const std::size_t events = run.snapshot->timeline.events.count();
  std::optional<std::uint32_t> step;
  for (std::size_t i = 0; i < run.facts.marks.size() && i < run.join.cuts.size(); ++i) {
    const std::uint32_t now = run.facts.marks[i].step;
    if (step && now <= *step) continue;
    step = now;
    curve.marks.push_back({column_of(run.join.cuts[i], events, curve.columns.size()), mark_text(now)});
  }
}

}  // namespace

std::optional<report::Curve> curve_of_directory(const std::string& directory) {
  const auto run = ingest::read_run_directory(directory);
  if (!run || !run->join.joined || !run->snapshot || run->snapshot->timeline.events.count() == 0) return std::nullopt;
  const std::size_t events = run->snapshot->timeline.events.count();
  report::Curve curve;
  curve.columns.resize(std::min(width, events));
  replay_into(curve, *run);
  mark_steps(curve, *run);
  curve.axis = fmt::format("{} events of the allocator", grouped(events));
  return curve;
}

report::Curve curve_of_phases(const std::vector<ledger::Phase>& phases) {
  report::Curve curve;
  const std::size_t points = 2 * phases.size();
  curve.columns.resize(std::min(width, points));
  std::optional<std::uint32_t> step;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const std::size_t column = column_of(2 * i, points, curve.columns.size());
    raise(curve.columns[column], phases[i].peak_allocated, phases[i].peak_reserved);
    raise(curve.columns[column_of(2 * i + 1, points, curve.columns.size())], phases[i].allocated, phases[i].reserved);
    if (!step || phases[i].step > *step) curve.marks.push_back({column, mark_text(phases[i].step)});
    step = std::max(step.value_or(0), phases[i].step);
  }
  curve.axis = "the peak and the end of each phase";
  return curve;
}

}  // namespace ullage::cli
