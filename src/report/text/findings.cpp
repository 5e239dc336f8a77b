// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/findings_view.hpp"
#include "report/text/ledger_table.hpp"

#include <fmt/format.h>

namespace ullage::report {
namespace {

std::string cost_of(const findings::Finding& finding) {
  return finding.bytes == 0 ? std::string() : format_bytes(finding.bytes) + " " + finding.bytes_are;
}

std::string ignored_text(const FindingsView& view) {
  if (view.ignored == 0) return {};
  return fmt::format("{} left out by --ignore or .ullageignore\n",
                     view.ignored == 1 ? "1 finding is" : std::to_string(view.ignored) + " findings are");
}

std::string finding_text(const findings::Finding& finding) {
  std::string text = fmt::format("\n{} {}: {}\n", name_of(finding.level), finding.id, printable(finding.title, false));
  if (finding.bytes > 0) text += fmt::format("  {}\n", cost_of(finding));
  if (!finding.code.line.empty()) text += fmt::format("  at {}\n", printable(finding.code.line, false));
  if (!finding.code.called_from.empty())
    text += fmt::format("  called from {}\n", printable(finding.code.called_from, false));
  for (const auto& evidence : finding.evidence) text += fmt::format("  - {}\n", printable(evidence, false));
  return text + fmt::format("  next: {}\n", printable(finding.next, false));
}

std::string indented(std::string_view lines) {
  std::string text = "    ";
  for (const char c : lines) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text + "\n";
}

}  // namespace

std::string findings_section(const FindingsView& view) {
  if (view.findings.empty() && view.ignored == 0) return {};
  Table table({{"level"}, {"rule"}, {"what"}, {"bytes"}, {"line"}});
  for (const auto& finding : view.findings)
    table.add({name_of(finding.level), finding.id, finding.title, cost_of(finding), finding.code.line});
  return "\nFINDINGS (ullage findings: evidence and next steps)\n" +
         (view.findings.empty() ? std::string() : table.text()) + ignored_text(view);
}

std::string findings_text(const SourceFindings& found) {
  std::string text = fmt::format("{}: {}\n", printable(found.source, false), printable(found.producer, false)) +
                     evidence_text(found.evidence);
  for (const auto& finding : found.view.findings) text += finding_text(finding);
  if (found.view.findings.empty())
    text += found.evidence.partial ? "no findings in what could be read\n" : "no findings\n";
  return text + ignored_text(found.view);
}

std::string rules_text(std::span<const findings::Rule* const> rules) {
  std::string text;
  for (const auto* rule : rules) {
    text += fmt::format("{}{} ({}): {}\n", text.empty() ? "" : "\n", rule->id, name_of(rule->level), rule->title);
    text += fmt::format("  {}\n  for example\n{}  next: {}\n", rule->explains, indented(rule->example), rule->next);
  }
  return text;
}

}  // namespace ullage::report
