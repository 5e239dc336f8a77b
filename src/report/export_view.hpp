// SPDX-License-Identifier: Apache-2.0
// All that evidence holds, for the views that write all of it: what `ullage convert` gives.
#pragma once

#include "attribution/bare_labels.hpp"
#include "attribution/facts.hpp"
#include "attribution/labels.hpp"
#include "report/sink.hpp"
#include "timeline/allocations.hpp"
#include "timeline/series.hpp"
#include "timeline/trace.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ullage::report {

/// The allocations of one device. What it points to must outlive it.
struct DeviceHistory {
  const timeline::Timeline* timeline = nullptr;
  const timeline::InitialState* initial = nullptr;
  const timeline::Allocations* allocations = nullptr;
  const attribution::Labels* labels = nullptr;
  std::span<const timeline::Segment> segments;  ///< after the last event
  std::span<const timeline::Block> blocks;
  std::vector<attribution::PhaseSpan> phases;        ///< in order; empty when not known
  std::vector<attribution::Annotation> annotations;  ///< named ranges of the source
  std::span<const std::int64_t> time_ns;             ///< of each event, when finer than the timeline's
  std::int64_t base_ns = 0;                          ///< what `time_ns` counts from
  std::span<const std::uint64_t> reserved;           ///< the source's own total after each event; may be empty
  bool blocks_only = false;  ///< the source has the sizes of blocks, not those requested, and no streams
};

/// A counter of a source that has no single allocations. Texts are empty when not known.
struct CounterSeries {
  std::string name;
  std::string gpu, pid, process;
  const timeline::Series* series = nullptr;
  bool has_times = true;
};

struct ExportView {
  std::string source, producer;
  std::vector<DeviceHistory> devices;      ///< by number
  const timeline::Trace* trace = nullptr;  ///< which calls ran; linked
  std::vector<CounterSeries> counters;
};

/// A pickle (protocol 4) as torch.cuda.memory._dump_snapshot writes it: docs/formats.md, "How a Timeline is written
/// down". Of the devices' allocations alone.
void write_memory_viz(const ExportView& view, Sink& sink);

/// Chrome's trace format (JSON), for ui.perfetto.dev: counters, phases, calls, failed requests. Times are microseconds
/// from the first of them. Of a device at most 100,000 points, of the calls at most 200,000, the longest.
void write_perfetto(const ExportView& view, Sink& sink);

/// A row per allocation, or per sample where the source has counters; fields are quoted as RFC 4180 says, lines end
/// with a line feed: docs/formats.md.
void write_csv(const ExportView& view, Sink& sink);

}  // namespace ullage::report
