// SPDX-License-Identifier: Apache-2.0
// `ullage ledger`: what was on the device at one moment, and who owned it.
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/cut.hpp"
#include "apps/ullage/evidence/findings.hpp"
#include "apps/ullage/evidence/levels.hpp"
#include "apps/ullage/evidence/view.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"
#include "report/segments_view.hpp"

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
  report::LedgerView view{moment_view(evidence, *chosen), {}, {}};
  view.ledger = ledger::chart(chosen->cut, *levels);
  view.found = without_ignored(findings_of_evidence(evidence), *ignored);
  if (const auto top = arguments.count("top"); top && *top > 0) ledger::fold(view.ledger, *top);
  return view;
}

/// Where one looks for fragmentation: the request that failed, else where most was reserved.
std::string segments_moment(const timeline::Timeline& timeline) {
  if (timeline::last_out_of_memory(timeline)) return "oom";
  return timeline.events.count() > 0 ? "reserved" : "end";
}

Result<report::SegmentsView> segments_of(const Evidence& evidence, const Arguments& arguments) {
  if (arguments.given("by"))
    return fail(ErrorKind::usage, "--by drills into the ledger, and --segments is another view", "ullage ledger",
                "one of the two");
  if (evidence.timeline == nullptr || !evidence.account || evidence.trace_timeline)
    return fail(ErrorKind::bad_input, "the source does not hold the allocator's segments", evidence.path,
                "a memory snapshot of PyTorch, or a run directory with one");
  const std::string moment = arguments.given("at") ? *arguments.text("at") : segments_moment(*evidence.timeline);
  const auto chosen = choose_cut(evidence, moment);
  if (!chosen) return tl::unexpected(chosen.error());
  report::SegmentsView view{moment_view(evidence, *chosen), ledger::segments_at(chosen->cut, evidence.initial), 0};
  view.top = arguments.count("top").value_or(0);
  return view;
}

Result<std::string> segments_output(const Evidence& evidence, const Arguments& arguments) {
  return segments_of(evidence, arguments).map([&](const auto& view) {
    return arguments.given("json") ? report::segments_json(view) : report::segments_text(view);
  });
}

Result<std::string> ledger_output(const Evidence& evidence, const Arguments& arguments) {
  return view_of(evidence, arguments).map([&](const auto& view) {
    return arguments.given("json") ? report::ledger_json(view) : report::ledger_text(view);
  });
}

Result<ExitCode> print_ledger(const Evidence& evidence, const Arguments& arguments) {
  const auto text =
      arguments.given("segments") ? segments_output(evidence, arguments) : ledger_output(evidence, arguments);
  if (!text) return tl::unexpected(text.error());
  const ExitCode code = evidence.quality.partial ? ExitCode::bad_input : ExitCode::yes;
  return print_result(*text).map([code] { return code; });
}

Result<ExitCode> run_ledger(const Arguments& arguments) {
  return open_one(arguments, "ullage ledger").and_then([&](const auto& evidence) {
    return print_ledger(*evidence, arguments);
  });
}

constexpr Flag ledger_flags[] = {
    at_flag,
    {"by", "LEVELS", "drill below the categories: kind, module, layer, operator, line, tensor, block", FlagKind::text,
     "category,kind"},
    {"segments", "", "show the segments with their blocks instead: holes, owners, who pins the half-empty ones",
     FlagKind::toggle},
    {"top", "N", "show the N largest lines of each level, and the others as one; 0 shows all", FlagKind::count, "12"},
    ignore_flag,
    store_flag,
    json_flag,
};

}  // namespace

const Command ledger_command{
    "ledger",
    "what was on the device at the peak, and who owned it",
    "RUN|FILE [FLAGS]",
    "RUN is a run directory, an id or its beginning, a name (its newest run), or @last; FILE a memory snapshot of "
    "PyTorch, a "
    "trace\n"
    "of torch.profiler with memory events, a file of export_memory_timeline (by category) or a log of nvidia-smi.\n"
    "Every line says how its bytes are known and how their owner is known; children add up to their parent. The "
    "levels\n"
    "of --by stand inside each other: --by module,operator. 'layer' is the module with its numbers as *: the same\n"
    "module of all layers together. --segments is of the last failed request, else of the peak of reserved memory, "
    "where\n"
    "--at names no other moment; a snapshot or a run has segments.",
    {ledger_flags, 1, false},
    run_ledger};

}  // namespace ullage::cli
