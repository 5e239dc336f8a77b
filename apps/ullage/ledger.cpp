// SPDX-License-Identifier: Apache-2.0
// `ullage ledger`: what was on the device at one moment, and who owned it.
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/cut.hpp"
#include "apps/ullage/evidence/findings.hpp"
#include "apps/ullage/evidence/levels.hpp"
#include "apps/ullage/evidence/view.hpp"
#include "apps/ullage/output.hpp"

namespace ullage::cli {
namespace {

Result<report::LedgerView> view_of(const Evidence& evidence, const Arguments& arguments) {
  const auto ignored = ignored_findings(arguments);
  if (!ignored) return tl::unexpected(ignored.error());
  const auto levels = levels_of(arguments.text("by").value_or(""));
  if (!levels) return tl::unexpected(levels.error());
  const std::string moment = arguments.text("at").value_or("peak");
  if (evidence.counters && moment == "peak") return counters_view(evidence);
  const auto chosen = choose_cut(evidence, moment);
  if (!chosen) return tl::unexpected(chosen.error());
  report::LedgerView view = ledger_view(evidence, *chosen);
  view.ledger = ledger::chart(chosen->cut, *levels);
  view.found = without_ignored(findings_of_evidence(evidence), *ignored);
  if (const auto top = arguments.count("top"); top && *top > 0) ledger::fold(view.ledger, *top);
  return view;
}

Result<ExitCode> print_ledger(const Evidence& evidence, const Arguments& arguments) {
  const auto view = view_of(evidence, arguments);
  if (!view) return tl::unexpected(view.error());
  const std::string text = arguments.given("json") ? report::ledger_json(*view) : report::ledger_text(*view);
  const ExitCode code = evidence.quality.partial ? ExitCode::bad_input : ExitCode::yes;
  return print_result(text).map([code] { return code; });
}

Result<ExitCode> run_ledger(const Arguments& arguments) {
  return open_one(arguments, "ullage ledger").and_then([&](const auto& evidence) {
    return print_ledger(*evidence, arguments);
  });
}

constexpr Flag flags[] = {
    at_flag,
    {"by", "LEVELS", "drill below the categories: kind, module, layer, operator, line, tensor, block", FlagKind::text,
     "category,kind"},
    {"top", "N", "show the N largest lines of each level, and the others as one; 0 shows all", FlagKind::count, "12"},
    ignore_flag,
    json_flag,
};

}  // namespace

const Command ledger_command{
    "ledger",
    "what was on the device at the peak, and who owned it",
    "RUN|FILE [FLAGS]",
    "RUN is a run directory, the name of a kept run or its beginning, or @last; FILE a memory snapshot of PyTorch, a "
    "trace\n"
    "of torch.profiler with memory events, a file of export_memory_timeline (by category) or a log of nvidia-smi.\n"
    "Every line says how its bytes are known and how their owner is known; children add up to their parent. The "
    "levels\n"
    "of --by stand inside each other: --by module,operator. 'layer' is the module with its numbers as *: the same\n"
    "module of all layers together.",
    {flags, 1, false},
    run_ledger};

}  // namespace ullage::cli
