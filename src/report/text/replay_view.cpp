// SPDX-License-Identifier: Apache-2.0
#include "report/replay_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ullage::report {
namespace {

std::string ending(const ReplayRow& row) {
  if (row.failure)
    return fmt::format("out of memory {}: {} asked for, {} reserved and not allocated", row.failure->where,
                       format_bytes(row.failure->requested),
                       format_bytes(row.failure->reserved - row.failure->allocated));
  if (row.recorded_failures_pass > 0) return "the request that failed finds room";
  return row.retries > 0 ? fmt::format("fits; cached memory was given back {} times", row.retries) : "fits";
}

std::string model_line(const ReplayView& view) {
  const std::string peak = format_bytes(view.recorded_peak_reserved);
  if (view.reproduced) return "the model gives the recorded peak of reserved memory, " + peak + ", to the byte\n";
  return "the model does not give the recorded peak of reserved memory, " + peak +
         ", exactly: take differences between rows, not the rows themselves\n";
}

}  // namespace

std::string replay_text(const ReplayView& view) {
  std::string text = printable(view.source + ": " + view.producer, false) + "\n";
  text += "recorded with " +
          (view.recorded_settings.empty() ? "PyTorch's default settings" : printable(view.recorded_settings, false)) +
          "\n";
  if (view.available_bytes)
    text += fmt::format("for PyTorch's segments: {} of {}\n", format_bytes(*view.available_bytes),
                        format_bytes(*view.capacity_bytes));
  text += model_line(view);
  for (const auto& note : view.notes) text += "note: " + printable(note, false) + "\n";
  Table table({{"setting"},
               {"peak reserved", Align::right},
               {"peak allocated", Align::right},
               {"unused then", Align::right},
               {view.available_bytes ? "outcome" : "", Align::left}});
  for (const ReplayRow& row : view.rows)
    table.add({row.setting.empty() ? "as recorded" : row.setting, format_bytes(row.peak_reserved),
               format_bytes(row.peak_allocated), format_bytes(row.unused_at_peak),
               view.available_bytes || row.recorded_failures > 0 ? ending(row) : ""});
  return text + "\n" + table.text();
}

}  // namespace ullage::report
