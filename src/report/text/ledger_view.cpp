// SPDX-License-Identifier: Apache-2.0
#include "report/ledger_view.hpp"

#include "base/bytes.hpp"
#include "report/text/ledger_table.hpp"

#include <fmt/format.h>

namespace ullage::report {

std::string evidence_text(const EvidenceView& evidence) {
  std::string text;
  if (evidence.partial) text += "This is partial: the source is damaged or incomplete.\n";
  for (const auto& missing : evidence.missing) text += fmt::format("  not in it: {}\n", missing);
  for (const auto& contradiction : evidence.contradictions) text += fmt::format("  contradiction: {}\n", contradiction);
  return text;
}

std::string ledger_text(const LedgerView& view) {
  std::string text = fmt::format("{}: {}, device {}\n", view.source, view.producer, view.device);
  text += evidence_text(view.evidence);
  text += fmt::format("peak: {} allocated, {} reserved\n\nLEDGER at {}\n", format_bytes(view.peak_allocated),
                      format_bytes(view.peak_reserved), view.moment);
  return text + ledger_table(view.ledger);
}

}  // namespace ullage::report
