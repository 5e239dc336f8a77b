// SPDX-License-Identifier: Apache-2.0
// `ullage show`: one run of the history.
#include "apps/ullage/choice.hpp"
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/history/columns.hpp"
#include "apps/ullage/history/curve.hpp"
#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/history/open.hpp"
#include "apps/ullage/history/stored_result.hpp"
#include "apps/ullage/output.hpp"
#include "apps/ullage/reconciling/source.hpp"
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/json/show_view.hpp"
#include "report/text/run_result.hpp"
#include "report/text/sections.hpp"
#include "store/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ullage::cli {
namespace {

using store::Record;
using store::Summary;

/// "a100-40gb, torch 2.11.0, ...": what is known.
std::vector<std::string> known_parts(const Summary& run) {
  std::vector<std::string> parts;
  if (!run.gpu.empty()) parts.push_back(run.gpu);
  if (!run.torch.empty()) parts.push_back("torch " + run.torch);
  if (!run.cuda.empty()) parts.push_back("CUDA " + run.cuda);
  if (!run.python.empty()) parts.push_back("Python " + run.python);
  if (parts.empty()) parts.emplace_back("where it ran is not known");
  return parts;
}

/// Only of a verdict that this program gives.
std::string verdict_section(const report::RunResult& result) {
  static constexpr std::array<std::string_view, 5> known = {"fits", "tight", "oom", "failed", "timeout"};
  if (std::ranges::find(known, result.verdict) != known.end()) return report::verdict_text(result);
  return "verdict: " + (result.verdict.empty() ? "not known" : printable(result.verdict, false)) + "\n";
}

std::string head_text(const Summary& run) {
  std::vector<std::string> words;
  for (const std::string& word : run.command) words.push_back(shell_quoted(word));
  std::string text = fmt::format("{} ({}), {}, {}\n", run.id, printable(run.name, false), run.kind,
                                 store::local_time_text(run.started_ms));
  text += "  " + join(words, " ") + "\n";
  text += fmt::format("  {}{}\n", printable(run.directory, false),
                      is_run_directory(run.directory) ? "" : " (is gone; this is what the history has)");
  text += "  " + printable(join(known_parts(run), ", "), false) + "\n";
  if (!run.commit.empty())
    text += fmt::format("  commit {}{}\n", run.commit, run.dirty.value_or(false) ? ", with changes" : "");
  return text + "\n";
}

std::string settings_section(const Record& record) {
  Table table({{"setting"}, {"value"}, {"from"}});
  for (const store::Setting& one : record.settings)
    if (one.group != store::SettingGroup::stack && one.group != store::SettingGroup::code)
      table.add({one.key, one.text, name_of(one.group)});
  const std::string text = table.text();
  return record.settings.empty() ? "" : "\nCONFIGURATION\n" + text;
}

std::string figures_section(const Record& record) {
  Table table({{"figure"}, {"value", Align::right}, {""}});
  for (const auto& [id, value] : record.metrics) {
    const store::Metric& metric = store::metrics()[id];
    if (value != 0) table.add({std::string(metric.name), store::value_text(id, value), std::string(metric.meaning)});
  }
  return record.metrics.empty() ? "" : "\nFIGURES\n" + table.text();
}

/// What the figures are of: an unlimited second run has a directory of its own.
std::string curve_section(const Record& record, const report::RunResult& result, const std::string& from) {
  if (from == "none") return {};
  std::optional<report::Curve> curve;
  if (from == "auto") {
    const std::string& directory = record.summary.directory;
    curve = curve_of_directory(result.ledger_unlimited ? unlimited_run(directory).string() : directory);
  }
  const std::string text = report::curve_text(curve ? *curve : curve_of_phases(result.phases));
  return text.empty() ? "" : "\nMEMORY OVER THE RUN\n" + text;
}

/// What a plan of the same training says, where one is kept.
std::string plan_section(const Record& record, const report::RunResult& result) {
  const auto plan = kept_plan(record);
  if (!plan || !*plan || !result.peak) return {};
  const Totals& planned = (*plan)->highest;
  Table table({{"PLAN"}, {"plan", Align::right}, {"this run", Align::right}, {"difference", Align::right}});
  const auto add = [&](const char* name, std::uint64_t before, std::uint64_t after) {
    const auto difference = static_cast<std::int64_t>(after - before);
    table.add({name, format_bytes(before), format_bytes(after),
               difference == 0 ? "0" : (difference > 0 ? "+" : "") + format_signed_bytes(difference)});
  };
  add("peak allocated", planned.allocated, result.peak->allocated);
  add("peak reserved", planned.reserved, result.peak->reserved);
  return "\n" + table.text() + "'ullage reconcile " + record.summary.id + "' says which lines differ\n";
}

Result<std::string> text_of(const Record& record, const std::string& curve) {
  return stored_result(record.source.run_json, record.summary.directory).map([&](const report::RunResult& result) {
    return head_text(record.summary) + verdict_section(result) + settings_section(record) +
           curve_section(record, result, curve) + report::phases_section(result) + report::ledger_section(result) +
           plan_section(record, result) + report::findings_section(result.found) + figures_section(record);
  });
}

report::ShowView view_of(const Record& record) {
  report::ShowView view{record.source.run_json,
                        record.summary.id,
                        record.summary.name,
                        record.summary.kind,
                        store::time_text(record.summary.started_ms),
                        record.summary.directory,
                        {},
                        {}};
  for (const store::Setting& one : record.settings)
    view.configuration.push_back({name_of(one.group), one.key, name_of(one.type), one.text, one.number});
  for (const auto& [id, value] : record.metrics) view.metrics.emplace_back(store::metrics()[id].name, value);
  return view;
}

Result<std::string> json_of(const Record& record) {
  return stored_result(record.source.run_json, record.summary.directory).and_then([&](const report::RunResult&) {
    return report::show_json(view_of(record));
  });
}

Result<ExitCode> run_show(const Arguments& arguments) {
  static constexpr std::array<std::string_view, 3> curves = {"auto", "phases", "none"};
  const auto curve = choice(arguments, "curve", curves);
  if (!curve) return tl::unexpected(curve.error());
  return open_one_record(arguments, "ullage show").and_then([&](const Record& record) {
    const auto text = arguments.given("json") ? json_of(record) : text_of(record, std::string(curves[*curve]));
    return text.and_then([](const std::string& shown) { return print_result(shown); }).map([] {
      return ExitCode::yes;
    });
  });
}

constexpr Flag show_flags[] = {
    {"curve", "FROM", "memory over the run: auto (the recorded history, else phases), phases, or none", FlagKind::text,
     "auto"},
    store_flag,
    json_flag,
};

}  // namespace

const Command show_command{"show",
                           "one run: verdict, configuration, memory over time, phases, ledger, figures",
                           "RUN [FLAGS]",
                           "RUN is a run directory, an id or its beginning, a name (its newest run), or @last. Where "
                           "the directory is gone\nthe history's copy of the result is shown.",
                           {show_flags, 1, false},
                           run_show};

}  // namespace ullage::cli
