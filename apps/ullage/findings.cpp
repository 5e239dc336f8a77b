// SPDX-License-Identifier: Apache-2.0
// `ullage findings`: what in a run or a file a person could act on.
#include "apps/ullage/evidence/findings.hpp"
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/view.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"

namespace ullage::cli {
namespace {

Result<ExitCode> list_rules(const Arguments& arguments) {
  const auto rules = findings::rules();
  return print_result(arguments.given("json") ? report::rules_json(rules) : report::rules_text(rules)).map([] {
    return ExitCode::yes;
  });
}

Result<ExitCode> print_findings(const Evidence& evidence, const Arguments& arguments) {
  const auto ignored = ignored_findings(arguments);
  if (!ignored) return tl::unexpected(ignored.error());
  const double headroom = arguments.share("headroom").value_or(0.15);
  const report::SourceFindings found{evidence.path, evidence.producer,
                                     without_ignored(findings_of_evidence(evidence, headroom), *ignored),
                                     evidence_view(evidence)};
  const std::string text = arguments.given("json") ? report::findings_json(found) : report::findings_text(found);
  const ExitCode code = evidence.quality.partial ? ExitCode::bad_input : ExitCode::yes;
  return print_result(text).map([code] { return code; });
}

Result<ExitCode> run_findings(const Arguments& arguments) {
  if (arguments.given("list")) return list_rules(arguments);
  return open_one(arguments, "ullage findings").and_then([&](const auto& evidence) {
    return print_findings(*evidence, arguments);
  });
}

constexpr Flag findings_flags[] = {
    {"list", "", "print every rule with what it recognises, an example and the next step", FlagKind::toggle},
    {"headroom", "SHARE", "with less of the capacity left at the peak the headroom is short", FlagKind::share, "15%"},
    ignore_flag,
    store_flag,
    json_flag,
};

}  // namespace

const Command findings_command{
    "findings",
    "what in a run or a file a person could act on, with evidence",
    "RUN|FILE [FLAGS]",
    "RUN and FILE as for 'ullage ledger'. A problem is something wrong; an opportunity is bytes or time that could be\n"
    "saved. Each has its bytes, the line of code where it is known, and the next step; a rule that cannot decide is\n"
    "silent. A file .ullageignore in the current directory or above silences rules: a line holds an id and, if "
    "wanted,\n"
    "a part of the line of code. Ends with 0 whatever is found.",
    {findings_flags, 1, false},
    run_findings};

}  // namespace ullage::cli
