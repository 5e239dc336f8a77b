// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/export.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

using report::CounterSeries;
using report::DeviceHistory;

std::vector<attribution::PhaseSpan> phases_of(const Evidence& evidence) {
  if (evidence.trace_timeline) return evidence.trace_phases;
  if (!evidence.run_ledger || !evidence.run_ledger->exact) return {};
  return ledger::spans_of(evidence.run_ledger->phases, evidence.input.marks, evidence.input.history.cuts);
}

DeviceHistory history_of(const Evidence& evidence, Export& made) {
  DeviceHistory history;
  history.timeline = evidence.timeline;
  history.initial = &evidence.initial;
  history.allocations = &evidence.account->allocations;
  history.labels = &evidence.account->labels;
  history.segments = evidence.timeline->segments;
  history.blocks = evidence.timeline->blocks;
  history.phases = phases_of(evidence);
  history.annotations = annotations_of(evidence);
  if (!evidence.trace_timeline) return history;
  history.time_ns = evidence.trace_timeline->time_ns;
  history.base_ns = evidence.trace->trace.base_ns;
  history.reserved = evidence.trace_timeline->reserved;
  history.blocks_only = true;
  made.made_segments.push_back(
      std::make_unique<timeline::FinalState>(timeline::covered_ranges(evidence.account->allocations)));
  history.segments = made.made_segments.back()->segments;
  history.blocks = made.made_segments.back()->blocks;
  return history;
}

std::vector<CounterSeries> counters_of(const Evidence& evidence) {
  std::vector<CounterSeries> counters;
  if (evidence.memory_timeline) {
    const auto& categories = evidence.memory_timeline->categories;
    for (std::size_t i = 0; i < categories.size(); ++i) {
      if (categories[i].count() > 0) counters.push_back({ingest::timeline_categories[i], {}, {}, {}, &categories[i]});
    }
  }
  if (evidence.smi_log) {
    for (const auto& series : evidence.smi_log->series)
      counters.push_back({"used", series.gpu, series.pid, series.process, &series.used, evidence.smi_log->has_times});
  }
  return counters;
}

Result<void> open_others(Export& made) {
  const Evidence& first = *made.evidence.front();
  if (first.timeline == nullptr || first.devices.size() < 2) return {};
  if (first.path == "-") {
    made.notes.push_back(fmt::format("{} devices are in the file; from the standard input only device {} is converted",
                                     first.devices.size(), first.timeline->device));
    return {};
  }
  const int done = first.timeline->device;
  for (const int device : std::vector<int>(first.devices)) {
    if (device == done) continue;
    auto other = open_evidence(first.path, device);
    if (!other) return tl::unexpected(other.error());
    made.evidence.push_back(std::move(*other));
  }
  std::ranges::sort(made.evidence, {}, [](const auto& evidence) { return evidence->timeline->device; });
  return {};
}

}  // namespace

Result<Export> export_of(std::unique_ptr<Evidence> evidence) {
  Export made;
  made.evidence.push_back(std::move(evidence));
  if (auto opened = open_others(made); !opened) return tl::unexpected(opened.error());
  const Evidence& first = *made.evidence.front();
  made.view.source = first.path;
  made.view.producer = first.producer;
  made.view.trace = trace_of(first);
  made.view.counters = counters_of(first);
  for (const auto& one : made.evidence) {
    if (one->timeline != nullptr && one->account) made.view.devices.push_back(history_of(*one, made));
  }
  return made;
}

}  // namespace ullage::cli
