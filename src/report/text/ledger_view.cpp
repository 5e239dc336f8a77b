// SPDX-License-Identifier: Apache-2.0
#include "report/ledger_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/ledger_table.hpp"

#include <fmt/format.h>

namespace ullage::report {

std::string evidence_text(const EvidenceView& evidence) {
  std::string text;
  if (evidence.partial) text += "This is partial: the source is damaged or incomplete.\n";
  for (const auto& missing : evidence.missing) text += fmt::format("  not in it: {}\n", printable(missing, false));
  for (const auto& contradiction : evidence.contradictions)
    text += fmt::format("  contradiction: {}\n", printable(contradiction, false));
  return text;
}

std::string moment_text(const MomentView& view) {
  std::string text = printable(view.source + ": " + view.producer, false);
  text += view.device ? fmt::format(", device {}\n", *view.device) : "\n";
  text += evidence_text(view.evidence);
  text += "peak: ";
  if (view.peak_allocated) text += format_bytes(*view.peak_allocated) + " allocated";
  if (view.peak_reserved) text += fmt::format(", {} reserved", format_bytes(*view.peak_reserved));
  if (view.peak_used) text += format_bytes(*view.peak_used) + " used";
  return text + "\n";
}

std::string ledger_text(const LedgerView& view) {
  return moment_text(view) + fmt::format("\nLEDGER at {}\n", printable(view.moment, false)) +
         ledger_table(view.ledger) + findings_section(view.found);
}

}  // namespace ullage::report
