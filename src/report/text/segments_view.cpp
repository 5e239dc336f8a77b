// SPDX-License-Identifier: Apache-2.0
#include "report/segments_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/ledger_table.hpp"
#include "report/text/segment_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ullage::report {
namespace {

using ledger::OwnedSegment;
using ledger::Segments;

/// Segments, and their bytes.
struct Sum {
  std::uint64_t count = 0, bytes = 0, idle = 0;
  void add(const OwnedSegment& segment) { ++count, bytes += segment.bytes, idle += segment.idle(); }
  void add(const Sum& other) { count += other.count, bytes += other.bytes, idle += other.idle; }
};

/// Segments that look the same.
struct Row {
  std::vector<std::string> cells;
  Sum sum;
};

constexpr std::size_t bar_cell = 3;

std::string owner_text(const ledger::BlockOwner& owner) {
  std::string text = name_of(owner.category);
  if (!owner.layers.empty()) text += ", " + owner.layers;
  return owner.line.empty() ? text : text + " (" + owner.line + ")";
}

std::string pinned_by(const OwnedSegment& segment, const Segments& all) {
  constexpr std::size_t shown = 2;
  if (segment.holes == segment.bytes) return "nothing, all of it is free";
  std::vector<std::string> parts;
  for (const ledger::Pin& pin : segment.pinned_by) {
    if (parts.size() < shown) parts.push_back(format_bytes(pin.bytes) + " " + owner_text(all.owners[pin.owner]));
  }
  if (segment.pinned_by.size() > shown) parts.push_back(fmt::format("{} more", segment.pinned_by.size() - shown));
  return join(parts, "; ");
}

std::vector<std::string> cells_of(const OwnedSegment& segment, const Segments& all) {
  const double share = 100.0 * static_cast<double>(segment.allocated) / static_cast<double>(segment.bytes);
  return {format_bytes(segment.bytes),
          std::string(segment.small ? "small" : "large") + (segment.expandable ? ", expandable" : ""),
          std::to_string(segment.stream),
          segment_bar(segment, all),
          fmt::format("{:.1f} %", share),
          format_bytes(segment.largest_hole),
          pinned_by(segment, all)};
}

/// Those that are not full.
std::vector<Row> rows_of(const Segments& all) {
  std::map<std::vector<std::string>, std::size_t> known;
  std::vector<Row> rows;
  for (const OwnedSegment& segment : all.segments) {
    if (segment.idle() == 0) continue;
    const auto [it, added] = known.try_emplace(cells_of(segment, all), rows.size());
    if (added) rows.push_back({it->first, {}});
    rows[it->second].sum.add(segment);
  }
  return rows;
}

std::string rest_text(const Sum& sum, const char* more, const char* what) {
  if (sum.count == 0) return {};
  return fmt::format("{} {}segment{}{}: {}{}\n", sum.count, more, sum.count == 1 ? "" : "s", what,
                     format_bytes(sum.bytes), sum.idle > 0 ? ", " + format_bytes(sum.idle) + " of it idle" : "");
}

std::string table_text(const SegmentsView& view) {
  Table table({{"", Align::right},
               {"size", Align::right},
               {"pool"},
               {"stream", Align::right},
               {"blocks"},
               {"used", Align::right},
               {"largest hole", Align::right},
               {"pinned by"}});
  std::string bars;
  Sum hidden, full;
  const std::vector<Row> rows = rows_of(view.segments);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (view.top > 0 && i >= view.top) {
      hidden.add(rows[i].sum);
      continue;
    }
    std::vector<std::string> cells{fmt::format("{} x", rows[i].sum.count)};
    cells.insert(cells.end(), rows[i].cells.begin(), rows[i].cells.end());
    bars += rows[i].cells[bar_cell];
    table.add(std::move(cells));
  }
  for (const OwnedSegment& segment : view.segments.segments) {
    if (segment.idle() == 0) full.add(segment);
  }
  if (rows.empty()) return rest_text(full, "", ", full");
  return table.text() + rest_text(hidden, "more ", "") + rest_text(full, "more ", ", full") + bar_legend(bars) + "\n";
}

std::string pinned_idle_text(const SegmentsView& view) {
  if (view.segments.pinned_by.empty()) return {};
  Table table({{"pinned by"}, {"segments", Align::right}, {"idle in them", Align::right}, {"own bytes", Align::right}});
  std::size_t count = 0;
  for (const ledger::PinnedIdle& pinned : view.segments.pinned_by) {
    if (view.top > 0 && count == view.top) break;
    table.add({owner_text(view.segments.owners[pinned.pin.owner]), std::to_string(pinned.segments),
               format_bytes(pinned.idle), format_bytes(pinned.pin.bytes)});
    ++count;
  }
  std::string text = "\nIDLE in segments of which half or more lies idle; one with several owners counts for each\n";
  text += table.text();
  if (const std::size_t others = view.segments.pinned_by.size() - count; others > 0)
    text += fmt::format("{} more owner{}\n", others, others == 1 ? "" : "s");
  return text;
}

std::string streams_text(const Segments& all) {
  constexpr std::size_t shown = 4;
  std::map<std::uint64_t, std::size_t> streams;
  for (const OwnedSegment& segment : all.segments) ++streams[segment.stream];
  if (streams.size() == 1) return fmt::format("on stream {}", streams.begin()->first);
  if (streams.size() > shown) return fmt::format("on {} streams", streams.size());
  std::vector<std::string> parts;
  for (const auto& [stream, count] : streams) parts.push_back(fmt::format("{} on stream {}", count, stream));
  return join(parts, ", ");
}

std::string counts_text(const Segments& all) {
  const auto count = [&](auto member) { return std::ranges::count_if(all.segments, member); };
  const auto small = count(&OwnedSegment::small), expandable = count(&OwnedSegment::expandable);
  const auto total = static_cast<std::ptrdiff_t>(all.segments.size());
  if (total == 0) return "no segments";
  return fmt::format("{} segment{}: {} large, {} small; {}; {} expandable", total, total == 1 ? "" : "s", total - small,
                     small, streams_text(all),
                     expandable == 0       ? "none"
                     : expandable == total ? "all"
                                           : std::to_string(expandable));
}

std::string request_text(const Segments& all) {
  if (!all.request) return {};
  std::string text =
      fmt::format("a request of {} failed; the largest hole is {}, all holes together {}",
                  format_bytes(all.request->bytes), format_bytes(all.largest_hole), format_bytes(all.holes));
  if (all.request->holes != all.holes)
    text += fmt::format("; in its own pool ({}) on its stream ({}) {} and {}", all.request->small ? "small" : "large",
                        all.request->stream, format_bytes(all.request->largest_hole), format_bytes(all.request->holes));
  return text + "\n";
}

std::string summary_text(const Segments& all) {
  std::string text = fmt::format("{} reserved: {} allocated, {} idle, the largest hole {}; {}\n",
                                 format_bytes(all.reserved), format_bytes(all.allocated), format_bytes(all.idle()),
                                 format_bytes(all.largest_hole), counts_text(all));
  if (all.idle() > all.holes)
    text += fmt::format("{} of the idle bytes were freed, but are in use on another stream\n",
                        format_bytes(all.idle() - all.holes));
  if (all.outside > 0)
    text += fmt::format("{} more are allocated outside every segment of the source\n", format_bytes(all.outside));
  return text + request_text(all);
}

}  // namespace

std::string segments_text(const SegmentsView& view) {
  return moment_text(view) + fmt::format("\nSEGMENTS at {}\n", view.moment) + summary_text(view.segments) + "\n" +
         table_text(view) + pinned_idle_text(view);
}

}  // namespace ullage::report
