// SPDX-License-Identifier: Apache-2.0
// `ullage check`: is a run within its budget, and no worse than its baseline?
#include "apps/ullage/command.hpp"
#include "apps/ullage/history/checking.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/history/open.hpp"
#include "apps/ullage/output.hpp"
#include "apps/ullage/result_file.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace ullage::cli {
namespace {

constexpr const char* usual_metrics = "peak_allocated,peak_reserved,peak_used,needed,step_growth";

Result<void> write_file(const std::string& path, const std::string& text) {
  auto file = ResultFile::open(path, true);
  if (!file) return tl::unexpected(file.error());
  file->write(text);
  return file->keep();
}

/// Nothing where there is none yet and one is to be made.
Result<std::optional<Baseline>> known_baseline(const Arguments& arguments) {
  const auto path = arguments.text("against");
  std::error_code error;
  const bool made_now = arguments.given("update") && path && !std::filesystem::exists(*path, error);
  if (!path || made_now) return std::optional<Baseline>();
  return read_baseline(*path).map([](Baseline baseline) { return std::optional(std::move(baseline)); });
}

/// Those of --metrics, else those that the baseline had, else the usual ones.
Result<std::vector<store::MetricId>> metrics_to_keep(const Arguments& arguments,
                                                     const std::optional<Baseline>& baseline) {
  if (arguments.given("metrics") || !baseline) return parse_metrics(arguments.text("metrics").value_or(usual_metrics));
  std::vector<store::MetricId> ids;
  for (const auto& value : baseline->metrics) ids.push_back(value.metric);
  return ids;
}

/// A run that broke off knows a part of its figures only, and one that does not fit none to hold others to.
Result<void> check_is_whole(const store::Summary& run) {
  if (verdict_is_good(run)) return {};
  return fail(ErrorKind::usage, "a baseline is of a run that fits: the verdict of this one is " + run.verdict, run.id,
              "a run with the verdict fits or tight",
              run.verdict == "oom" ? "'ullage explain " + run.id + "' says what to make smaller"
                                   : "mend the script, run it again and take that run");
}

Result<ExitCode> update(const Arguments& arguments, const store::Record& record,
                        const std::optional<Baseline>& baseline) {
  if (const auto whole = check_is_whole(record.summary); !whole) return tl::unexpected(whole.error());
  const auto metrics = metrics_to_keep(arguments, baseline);
  if (!metrics) return tl::unexpected(metrics.error());
  const Baseline made = baseline_of(record, *metrics);
  const std::string path = *arguments.text("against");
  const std::string text = baseline_json(made);
  if (const auto written = write_file(path, text); !written) return tl::unexpected(written.error());
  return print_result(arguments.given("json")
                          ? text
                          : fmt::format("{} holds {} figures of {}\n", path, made.metrics.size(), record.summary.id))
      .map([] { return ExitCode::yes; });
}

ExitCode code_of(const CheckReport& report) {
  if (!report.verdict_is_good() || report.count(CheckStatus::over) > 0) return ExitCode::no;
  return report.count(CheckStatus::unknown) > 0 ? ExitCode::bad_input : ExitCode::yes;
}

Result<ExitCode> check(const Arguments& arguments, const store::Record& record, const std::vector<Budget>& budgets) {
  const auto baseline = known_baseline(arguments);
  if (!baseline) return tl::unexpected(baseline.error());
  if (arguments.given("update")) return update(arguments, record, *baseline);
  const CheckReport report = check_run(record, budgets, *baseline, arguments.share("tolerance").value_or(0));
  if (const auto path = arguments.text("markdown"))
    if (const auto written = write_file(*path, check_markdown(report)); !written)
      return tl::unexpected(written.error());
  return print_result(arguments.given("json") ? check_json(report) : check_text(report)).map([&] {
    return code_of(report);
  });
}

/// What --update, --metrics and no flag at all lack.
Result<void> check_flags_given(const Arguments& arguments) {
  if (!arguments.given("budget") && !arguments.given("against"))
    return fail(ErrorKind::usage, "nothing to check against", "ullage check",
                "--budget METRIC=LIMIT,... or --against FILE", "'ullage check --list' prints the metrics");
  if (arguments.given("update") && !arguments.given("against"))
    return fail(ErrorKind::usage, "--update needs the file to write", "ullage check", "--against FILE --update");
  if (arguments.given("metrics") && !arguments.given("update"))
    return fail(ErrorKind::usage, "only a baseline that is written has chosen metrics", "--metrics without --update",
                "--against FILE --update --metrics M,...", "--budget METRIC=LIMIT checks one figure");
  return {};
}

Result<ExitCode> run_check(const Arguments& arguments) {
  const auto budgets =
      arguments.given("budget") ? parse_budgets(*arguments.text("budget")) : Result<std::vector<Budget>>();
  if (!budgets) return tl::unexpected(budgets.error());
  if (arguments.given("list"))
    return print_result(arguments.given("json") ? metrics_json() : metrics_text()).map([] { return ExitCode::yes; });
  if (const auto given = check_flags_given(arguments); !given) return tl::unexpected(given.error());
  return open_one_record(arguments, "ullage check").and_then([&](const auto& record) {
    return check(arguments, record, *budgets);
  });
}

constexpr Flag check_flags[] = {
    {"budget", "M=LIMIT[,..]", "metrics with their limits: peak_reserved=38GiB,step_growth=1MiB", FlagKind::text},
    {"against", "FILE", "a baseline, which --update writes", FlagKind::text},
    {"tolerance", "SHARE", "how much worse than the baseline is still no regression", FlagKind::share, "1%"},
    {"update", "", "write the run's figures into the baseline instead of checking", FlagKind::toggle},
    {"metrics", "M[,..]", "--update: which; else those that the baseline has", FlagKind::text},
    {"markdown", "FILE", "write a summary for a pull request too", FlagKind::text},
    {"list", "", "print the metrics with their units and meaning", FlagKind::toggle},
    store_flag,
    json_flag,
};

}  // namespace

const Command check_command{
    "check",
    "is a run within its budget, and no worse than its baseline: for CI",
    "RUN --budget METRIC=LIMIT,... | RUN --against FILE [--update] | --list",
    "Ends with 1 when a figure is over its limit, and when the run does not fit or failed; with 3 when a figure is not "
    "known\nof this run. RUN as for 'ullage show'.",
    {check_flags, 1, false},
    run_check};

}  // namespace ullage::cli
