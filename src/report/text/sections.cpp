// SPDX-License-Identifier: Apache-2.0
#include "report/text/sections.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/ledger_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::report {
namespace {

constexpr std::size_t all_phases_up_to = 24;  // rows; longer runs show the first, the last and the peak's step

bool is_shown(const RunResult& r, const ledger::Phase& phase) {
  if (r.phases.size() <= all_phases_up_to) return true;
  return phase.step <= 1 || phase.step == r.phases.back().step || (r.peak && phase.step == r.peak->step);
}

std::string phase_label(const ledger::Phase& phase) {
  std::string label = ledger::name_of(phase.name);
  if (phase.micro_batch > 1) label += fmt::format(" (micro batch {})", phase.micro_batch);
  return label;
}

std::string or_no_line(const std::string& line) {
  return line.empty() ? "(no Python frame)" : printable(line, false);
}

std::string copies_table(const RunResult& r) {
  Table table({{"copies in the last step"}, {"times", Align::right}, {"bytes", Align::right}, {"host side"}, {"line"}});
  for (const auto& copy : r.copies)
    table.add({copy.direction == "host_to_device" ? "host to device" : "device to host", std::to_string(copy.count),
               format_bytes(copy.bytes), copy.pinned ? "pinned" : "pageable", or_no_line(copy.line)});
  return table.text();
}

std::string syncs_table(const RunResult& r) {
  Table table({{"synchronisations in the last step"}, {"times", Align::right}, {"line"}});
  for (const auto& sync : r.syncs) table.add({sync.function, std::to_string(sync.count), or_no_line(sync.line)});
  return table.text();
}

/// Reads that no policy answered: the hook did not see them.
std::string unknown_reads_text(const RunResult& r) {
  std::string text;
  for (const auto& read : r.unknown_reads) {
    const bool answered =
        std::any_of(r.policies.begin(), r.policies.end(), [&](const auto& use) { return use.line == read.line; });
    if (!answered)
      text += fmt::format("  {} x, {} in all: {}\n", read.count, format_bytes(read.bytes), or_no_line(read.line));
  }
  return text.empty()
             ? text
             : "The script read values that nothing computed (kernels do nothing here); it got zeros:\n" + text;
}

std::string policies_text(const RunResult& r) {
  if (r.policies.empty()) return {};
  std::string text = "Values that nothing computed were answered by policies:\n";
  for (const auto& use : r.policies)
    text += fmt::format("  {}: {}\n", printable(use.text, false), or_no_line(use.line));
  return text;
}

std::string stubs_text(const RunResult& r) {
  if (r.stubs.empty()) return {};
  constexpr std::size_t shown = 8;
  std::vector<std::string> parts;
  for (const auto& stub : r.stubs)
    if (parts.size() < shown) parts.push_back(fmt::format("{} ({})", stub.function, stub.calls));
  if (r.stubs.size() > shown) parts.push_back(fmt::format("and {} more", r.stubs.size() - shown));
  return "Functions that do nothing were called: " + join(parts, ", ") + "\n";
}

}  // namespace

std::string phases_section(const RunResult& r) {
  if (r.phases.empty()) return {};
  Table table({{"step", Align::right},
               {"phase"},
               {"allocated", Align::right},
               {"reserved", Align::right},
               {"peak allocated", Align::right},
               {"peak reserved", Align::right}});
  for (const auto& phase : r.phases)
    if (is_shown(r, phase))
      table.add({phase.step > 0 ? std::to_string(phase.step) : "", phase_label(phase), format_bytes(phase.allocated),
                 format_bytes(phase.reserved), format_bytes(phase.peak_allocated), format_bytes(phase.peak_reserved)});
  const std::string of = r.ledger_unlimited ? " (of the second run, in which only the charging is unlimited)" : "";
  return fmt::format("\nPHASES{}\n{}", of, table.text());
}

std::string ledger_section(const RunResult& r) {
  if (!r.ledger) return {};
  const std::string below =
      r.below_peak > 0 ? fmt::format(", {} of allocated memory below the peak", format_bytes(r.below_peak)) : "";
  std::string text =
      fmt::format("\nLEDGER at the {}{}\n{}", printable(r.ledger_of, false), below, ledger_table(*r.ledger));
  if (!r.largest_owners.empty()) {
    Table owners({{"largest activations and temporaries"},
                  {"tensors", Align::right},
                  {"bytes", Align::right},
                  {"share", Align::right}});
    for (const auto& owner : r.largest_owners)
      owners.add({owner.name, std::to_string(owner.count), format_bytes(owner.bytes),
                  fmt::format("{:.1f} %", 100.0 * static_cast<double>(owner.bytes) /
                                              static_cast<double>(std::max<std::uint64_t>(r.ledger->bytes, 1)))});
    text += "\n" + owners.text();
  }
  if (r.peak && !r.peak->where.empty())
    text += fmt::format("the peak was reached at {}\n", printable(r.peak->where, false));
  return text;
}

std::string workspaces_section(const RunResult& r) {
  if (r.workspaces.empty()) return {};
  Table table({{"workspaces of cuDNN"},
               {"uses", Align::right},
               {"largest", Align::right},
               {"from", Align::right},
               {"to", Align::right},
               {"known by"}});
  for (const auto& w : r.workspaces)
    table.add({w.purpose, std::to_string(w.count), format_bytes(w.bytes), format_bytes(w.low_bytes),
               format_bytes(w.high_bytes), "estimated"});
  return "\nWORKSPACES, given back after each call unless said otherwise; part of what is reserved\n" + table.text();
}

std::string transfers_section(const RunResult& r) {
  std::string text;
  if (!r.copies.empty()) text += copies_table(r);
  if (!r.syncs.empty()) text += (text.empty() ? "" : "\n") + syncs_table(r);
  return text.empty() ? text : "\nTRANSFERS\n" + text;
}

std::string honesty_section(const RunResult& r) {
  std::string text = policies_text(r) + unknown_reads_text(r) + stubs_text(r);
  if (!r.not_seen.empty())
    text += "Not seen: " + join(r.not_seen, ", ") + ". A longer batch than those that came may need more.\n";
  for (const auto& missing : r.missing) text += "Missing: " + printable(missing, false) + "\n";
  for (const auto& note : r.notes) text += "Note: " + printable(note, false) + "\n";
  const char* estimated = r.workspaces.empty() ? "the context is" : "the context and cuDNN's scratch memory are";
  return fmt::format(
             "\nHOW THIS IS KNOWN\nPyTorch's own code ran on a virtual GPU: allocations are executed, {} estimated, "
             "durations are not predicted.\n",
             estimated) +
         "Losses and metrics that the script printed are not real: kernels compute nothing here.\n" + text;
}

}  // namespace ullage::report
