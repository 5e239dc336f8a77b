// SPDX-License-Identifier: Apache-2.0
#include "report/explain_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/difference_tables.hpp"
#include "report/text/ledger_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::report {
namespace {

std::string between_text(const Between& between) {
  const std::string low = format_signed_bytes(between.low), high = format_signed_bytes(between.high);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string saves_text(const Suggestion& change) {
  if (!change.saves) return {};
  const auto high = static_cast<std::uint64_t>(std::max<std::int64_t>(change.saves->high, 0));
  if (change.saves->low == change.saves->high) return fmt::format(": about {}", format_bytes(high));
  if (change.saves->low <= 0) return fmt::format(": up to {}", format_bytes(high));
  return fmt::format(": {}", between_text(*change.saves));
}

std::string opening(const ExplainView& view) {
  if (!view.failure) return view.peak + "\n";
  const Failure& failure = *view.failure;
  std::string text = fmt::format("{}{}: {}\n", failure.title, failure.certain ? "" : ", as far as this can tell",
                                 printable(failure.reason, false));
  text += fmt::format("largest owner: {}\n", printable(view.owner.text, false));
  if (view.changes.empty()) return text + "first to try: nothing that can be worked out from this\n";
  return text +
         fmt::format("first to try: {}{}\n", printable(view.changes[0].text, false), saves_text(view.changes[0]));
}

std::string more_changes(const ExplainView& view) {
  std::string text;
  for (std::size_t i = 0; i < view.changes.size(); ++i) {
    const Suggestion& change = view.changes[i];
    if (i == 0 && change.basis.empty()) continue;
    text += fmt::format("  {}{}{}\n", printable(change.text, false), saves_text(change),
                        change.basis.empty() ? "" : fmt::format(" ({})", change.basis));
  }
  return text.empty() ? text : "\nCHANGES, each by itself\n" + text;
}

std::string whole_section(const std::optional<WholeRun>& whole) {
  if (!whole) return {};
  std::string text = fmt::format("\nWITHOUT A LIMIT the same run needs {}", format_bytes(whole->needed));
  if (whole->missing > 0) text += fmt::format(", {} more than the device has", format_bytes(whole->missing));
  text += whole->changes.empty() ? "\n" : "; of its peak the changes save, each by itself\n";
  for (const Suggestion& change : whole->changes)
    text += fmt::format("  {}{} ({})\n", change.text, saves_text(change), change.basis);
  return text;
}

std::string place_of(const MessageView& message) {
  std::string text = fmt::format("line {}", message.line);
  if (message.rank) text += fmt::format(", rank {}", *message.rank);
  if (!message.origin.empty() && !message.rank) text += ", " + message.origin;
  if (message.gpu) text += fmt::format(", GPU {}", *message.gpu);
  if (message.times > 1) text += fmt::format(", {} times", message.times);
  return text;
}

void add_intervals(Table& table, const MessageView& message) {
  const auto add = [&](const char* title, const std::optional<Between>& between) {
    if (between) table.add({title, between_text(*between), ""});
  };
  add("outside PyTorch: context, libraries, other processes", message.outside_pytorch);
  add("of it this process: context, communication, libraries", message.own_outside_pytorch);
  add("of it other processes", message.other_processes);
}

std::string sizes_text(const MessageView& message) {
  Table table({{""}, {"", Align::right}, {"", Align::right}});
  for (const StatedSize& size : message.sizes) {
    const bool rounded = size.low != size.high;
    table.add({"  " + size.title, size.printed.empty() ? format_bytes(size.bytes) : size.printed,
               rounded ? fmt::format("{} to {} bytes", size.low, size.high) : fmt::format("{} bytes", size.bytes)});
  }
  for (const HeldBy& process : message.processes)
    table.add({"  process " + process.pid, process.printed, process.bytes ? "" : "cannot be true: not known"});
  std::string text = table.text();
  Table left({{""}, {"", Align::right}, {""}});
  add_intervals(left, message);
  return text + left.text();
}

std::string message_text(const MessageView& message, std::size_t number, bool opened) {
  std::string text = fmt::format("\nMESSAGE {} ({}): {}, wording {}{}{}\n", number, place_of(message), message.backend,
                                 message.wording, message.torch.empty() ? "" : ", torch " + message.torch,
                                 message.cut ? "; it breaks off" : "");
  if (!opened) text += fmt::format("  {}: {}\n", message.failure.title, printable(message.failure.reason, false));
  text += sizes_text(message);
  for (const auto& beside : message.failure.beside) text += fmt::format("  {}\n", beside);
  if (!message.candidates.empty()) text += "  the request has the size of\n";
  for (const Candidate& candidate : message.candidates)
    text += fmt::format("    {}: {} = {}\n", candidate.what, candidate.formula, format_bytes(candidate.bytes));
  return text;
}

std::string last_fit_section(const std::optional<LastFit>& last) {
  if (!last) return {};
  std::vector<std::string> words;
  for (const std::string& word : last->command) words.push_back(shell_quoted(word));
  const SideTitles sides{"then", "now"};
  std::string text = fmt::format("\nLAST FIT of this script: {} ({}, {}), {} allocated at the peak\n  {}\n", last->id,
                                 last->kind, last->started, format_bytes(last->peak_allocated), join(words, " "));
  if (!last->settings.empty()) text += settings_table(last->settings, sides);
  if (last->settings_known && last->settings.empty()) text += "  nothing that was asked for differs\n";
  if (last->difference) text += difference_chart(*last->difference, sides);
  return text;
}

}  // namespace

std::string explain_text(const ExplainView& view) {
  std::string text = opening(view);
  text += fmt::format("\n{}\n", printable(view.source + ": " + view.producer, false));
  text += evidence_text(view.evidence);
  if (view.messages.empty()) {
    for (const StatedSize& size : view.sizes) text += fmt::format("  {}: {}\n", size.title, format_bytes(size.bytes));
    if (view.failure) {
      for (const auto& beside : view.failure->beside) text += fmt::format("  {}\n", beside);
    }
  }
  for (std::size_t i = 0; i < view.messages.size(); ++i) text += message_text(view.messages[i], i + 1, i == 0);
  text += more_changes(view) + whole_section(view.whole);
  if (view.ledger) text += fmt::format("\nLEDGER at {}\n{}", printable(view.moment, false), ledger_table(*view.ledger));
  text += last_fit_section(view.last_fit) + findings_section(view.found);
  for (const auto& note : view.notes) text += fmt::format("\n{}\n", note);
  if (!view.verify.empty())
    text += fmt::format("\nto check it{}:\n  {}\n", view.changes.empty() ? "" : ", with the change made", view.verify);
  return text;
}

}  // namespace ullage::report
