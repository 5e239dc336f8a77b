// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/series.hpp"

#include "base/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

using ledger::AttributedBy;
using ledger::KnownBy;
using ledger::Line;

// The profiler's own categories, as lines of the chart of accounts.
constexpr const char* category_ids[] = {"parameters",  "optimizer_state", "inputs",          "temporaries",
                                        "activations", "gradients",       "autograd_detail", "unattributed"};

Line category_lines(const ingest::MemoryTimeline& timeline) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < timeline.at_peak.size(); ++i) {
    const bool unknown = i + 1 == timeline.at_peak.size();
    Line line{category_ids[i],
              unknown ? "[unattributed]" : ingest::timeline_categories[i],
              timeline.at_peak[i],
              KnownBy::measured,
              unknown || timeline.at_peak[i] == 0 ? AttributedBy::nothing : AttributedBy::annotation,
              {},
              0};
    lines.push_back(std::move(line));
  }
  return ledger::sum_line("allocated", "allocated", KnownBy::measured, std::move(lines));
}

void say_what_a_timeline_lacks(const ingest::MemoryTimeline& timeline, Evidence& evidence) {
  auto& missing = evidence.quality.missing;
  missing.push_back("reserved memory, single tensors, modules and lines of code");
  if (timeline.at_start > 0)
    missing.push_back(fmt::format("{} are older than the recording", format_bytes(timeline.at_start)));
  if (timeline.bad_rows > 0)
    missing.push_back(fmt::format("{} rows of another shape were left out", timeline.bad_rows));
  if (timeline.below_zero > 0)
    evidence.quality.contradictions.push_back(
        fmt::format("a category holds less than nothing at {} moments; counted as 0", timeline.below_zero));
}

// One line of text about a counter.
std::string describe(const ingest::SmiSeries& series) {
  std::string who = series.gpu.empty() ? "the GPU" : "GPU " + series.gpu;
  if (!series.pid.empty()) who = fmt::format("process {} {} on {}", series.pid, series.process, who);
  if (series.used.count() == 0) return who + ": no value in any sample";
  const std::string floor = format_bytes(series.used.floor());
  const std::string samples = fmt::format("{} samples", series.used.count());
  const char* reason =
      series.pid.empty() ? "a context, a driver or other processes, not a leak" : "a context, not a leak";
  if (series.used.count() > 1 && series.used.constant())
    return fmt::format("{}: constant {} in {}: what is held all the time, {}", who, floor, samples, reason);
  std::string text =
      fmt::format("{}: at most {}, {}", who, format_bytes(series.used.value[series.used.highest()]), samples);
  if (series.used.floor() > 0 && series.used.count() > 1)
    text += fmt::format("; never below {}: a floor that is there all the time ({})", floor, reason);
  return text;
}

// The GPU whose counter is highest; processes where the log has no counter of the whole GPU.
const ingest::SmiSeries& highest(const ingest::SmiLog& log) {
  const ingest::SmiSeries* best = nullptr;
  const auto peak = [](const ingest::SmiSeries& s) { return s.used.count() > 0 ? s.used.value[s.used.highest()] : 0; };
  for (const auto& series : log.series) {
    const bool better = best == nullptr || (series.pid.empty() && !best->pid.empty()) ||
                        (series.pid.empty() == best->pid.empty() && peak(series) > peak(*best));
    if (better) best = &series;
  }
  return *best;
}

CounterPeak peak_of(const ingest::SmiLog& log) {
  const ingest::SmiSeries& top = highest(log);
  const std::uint64_t peak = top.used.count() > 0 ? top.used.value[top.used.highest()] : 0;
  const std::uint64_t floor = top.used.count() > 1 ? top.used.floor() : 0;
  std::vector<Line> lines;
  lines.push_back({"floor",
                   "held all the time: context, driver, other processes",
                   floor,
                   KnownBy::measured,
                   AttributedBy::nothing,
                   {},
                   0});
  lines.push_back({"unattributed", "[unattributed]", peak - floor, KnownBy::measured, AttributedBy::nothing, {}, 0});
  CounterPeak result;
  result.ledger = ledger::sum_line("used", "used on the device", KnownBy::measured, std::move(lines));
  result.moment = fmt::format("the highest sample (number {} of {})", top.used.highest() + 1, top.used.count());
  result.summary = describe(top);
  for (const auto& series : log.series) {
    if (&series != &top && result.notes.size() < 64) result.notes.push_back(describe(series));
  }
  return result;
}

}  // namespace

Opened open_memory_timeline(ingest::Source& source) {
  auto timeline = ingest::read_memory_timeline(source);
  if (!timeline) return tl::unexpected(timeline.error());
  auto evidence = std::make_unique<Evidence>();
  evidence->path = source.name();
  evidence->format = Format::memory_timeline;
  evidence->producer = fmt::format("export_memory_timeline of torch.profiler, {} {}", timeline->events,
                                   timeline->rows ? "rows" : "moments");
  CounterPeak peak;
  peak.ledger = category_lines(*timeline);
  peak.moment = "the peak of allocated memory";
  peak.summary =
      fmt::format("{} allocated at the peak{}", format_bytes(timeline->peak), largest_parts(peak.ledger.children));
  peak.notes.push_back("the categories are the profiler's own guesses");
  evidence->counters = std::move(peak);
  note_damage(*evidence, timeline->damage);
  say_what_a_timeline_lacks(*timeline, *evidence);
  evidence->memory_timeline = std::move(*timeline);
  return evidence;
}

Opened open_smi_log(ingest::Source& source) {
  auto log = ingest::read_smi_log(source);
  if (!log) return tl::unexpected(log.error());
  auto evidence = std::make_unique<Evidence>();
  evidence->path = source.name();
  evidence->format = Format::smi_log;
  evidence->producer = fmt::format("log of nvidia-smi, {} lines", log->lines);
  evidence->counters = peak_of(*log);
  evidence->capacity_bytes = highest(*log).capacity_bytes;
  note_damage(*evidence, log->damage);
  auto& missing = evidence->quality.missing;
  missing.push_back("what lies inside a process: a sample sees the device's total, between samples nothing");
  for (const auto& series : log->series) {
    if (series.missing > 0 && missing.size() < 16)
      missing.push_back(fmt::format("{} samples without a value ([N/A]): {}", series.missing,
                                    series.pid.empty() ? "GPU " + series.gpu : "process " + series.pid));
  }
  if (log->bad_lines > 0) missing.push_back(fmt::format("{} lines with other fields were left out", log->bad_lines));
  evidence->smi_log = std::move(*log);
  return evidence;
}

Opened refuse_page(const std::string& path) {
  return fail(ErrorKind::bad_input, "this page holds only a picture of a memory timeline", path,
              "the same export as numbers",
              "prof.export_memory_timeline(\"timeline.json\"), or with a name that ends in raw.json.gz");
}

Opened refuse_headless(const std::string& path) {
  return fail(ErrorKind::bad_input, "this log of nvidia-smi does not name its fields", path,
              "a first line like 'timestamp, index, memory.used [MiB]'",
              "log with --format=csv (without noheader), or put that line in front");
}

}  // namespace ullage::cli
