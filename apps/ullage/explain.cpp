// SPDX-License-Identifier: Apache-2.0
// `ullage explain`: what an error text, a snapshot, a trace, a log or a run says about memory.
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/findings.hpp"
#include "apps/ullage/explanation/explanation.hpp"
#include "apps/ullage/explanation/last_fit.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"
#include "ingest/oom_message/model_dimensions.hpp"
#include "model/source.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace ullage::cli {
namespace {

Result<ExplainOptions> options_of(const Arguments& arguments) {
  ExplainOptions options;
  options.micro_batch = arguments.count("micro-batch");
  options.sequence = arguments.count("seq");
  options.gpu = arguments.text("gpu");
  options.top = arguments.count("top").value_or(4);
  if (const auto model = arguments.text("model")) {
    const auto found = model::find_source(*model);
    if (!found) return tl::unexpected(found.error());
    auto source = ingest::Source::of(std::as_bytes(std::span(found->json)), found->where);
    auto dimensions = ingest::read_model_dimensions(source);
    if (!dimensions) return tl::unexpected(dimensions.error());
    options.model = *dimensions;
  }
  return options;
}

/// What leaks is to be mended before anything is made smaller: its next step goes first.
void put_leaks_first(report::ExplainView& view) {
  constexpr std::string_view leaks[] = {"growth", "graph_kept", "unused_graph", "inference_without_no_grad"};
  if (!view.failure) return;
  for (const auto& finding : view.found.findings) {
    if (std::ranges::find(leaks, finding.id) == std::end(leaks)) continue;
    const std::string at = finding.code.line.empty() ? "" : ", at " + finding.code.line;
    const auto bytes = static_cast<std::int64_t>(finding.bytes);
    view.changes.insert(view.changes.begin(), {finding.title + at + ": " + finding.next, "the finding " + finding.id,
                                               report::Between{bytes, bytes}});
    return;
  }
}

Result<ExitCode> run_explain(const Arguments& arguments) {
  if (arguments.positionals.empty())
    return fail(ErrorKind::usage, "what is missing is a file, a run or -", "ullage explain",
                "ullage explain FILE...|-");
  const auto options = options_of(arguments);
  if (!options) return tl::unexpected(options.error());
  const auto ignored = ignored_findings(arguments);
  if (!ignored) return tl::unexpected(ignored.error());
  std::vector<report::ExplainView> views;
  ExitCode code = ExitCode::yes;
  for (const std::string& argument : arguments.positionals) {
    const auto evidence = open_run_or_file(argument);
    if (!evidence) return tl::unexpected(evidence.error());
    views.push_back(explanation_of(**evidence, *options));
    views.back().found = without_ignored(findings_of_evidence(**evidence), *ignored);
    put_leaks_first(views.back());
    views.back().last_fit = last_fit(**evidence, views.back());
    if ((*evidence)->quality.partial) code = ExitCode::bad_input;
  }
  std::string text;
  if (arguments.given("json")) {
    text = report::explain_json(views);
  } else {
    for (const auto& view : views) text += (text.empty() ? "" : "\n") + report::explain_text(view);
  }
  return print_result(text).map([code] { return code; });
}

constexpr Flag explain_flags[] = {
    {"model", "MODEL", "as of 'ullage plan', a config.json for example: what the failed request's size is likely to be",
     FlagKind::text},
    {"micro-batch", "N", "sequences per step, for the same", FlagKind::count},
    {"seq", "N", "tokens per sequence, for the same", FlagKind::count},
    {"gpu", "NAME", "the GPU of the command at the end", FlagKind::gpu},
    {"top", "N", "show the N largest lines of each level of the ledger; 0 shows all", FlagKind::count, "4"},
    ignore_flag,
    store_flag,
    json_flag,
};

}  // namespace

const Command explain_command{
    "explain",
    "what an error text, a snapshot, a trace or a run says about memory",
    "FILE...|- [FLAGS]",
    "FILE is a log with an out-of-memory error, a memory snapshot, a trace of torch.profiler, a file of\n"
    "export_memory_timeline, a log of nvidia-smi, or a run; - is the standard input. Where a request failed, the "
    "first\n"
    "three lines name the kind of failure, the largest owner and the first change to try; else the first line is the\n"
    "peak and what it consists of. The last line is a command that would check it.",
    {explain_flags, 64, false},
    run_explain};

}  // namespace ullage::cli
