// SPDX-License-Identifier: Apache-2.0
// `ullage reconcile`: plan, rehearsal and measurement side by side, until every byte has a name.
#include "apps/ullage/command.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"
#include "apps/ullage/reconciling/matching.hpp"
#include "apps/ullage/reconciling/source.hpp"

#include <algorithm>

namespace ullage::cli {
namespace {

using Sources = std::vector<ReconcileSource>;

constexpr const char* usage = "ullage reconcile RUN|FILE --plan PLAN --rehearsal RUN";

/// The plan that was given, else the one that is kept with the run.
Result<std::optional<ReconcileSource>> plan_of(const Arguments& arguments) {
  const auto given = arguments.text("plan");
  if (!given) return kept_plan(arguments.positionals.front());
  if (*given == "none") return std::nullopt;
  return plan_source(*given).map([](ReconcileSource source) { return std::optional(std::move(source)); });
}

/// The rehearsal that was given, else the nearest of the history.
Result<std::optional<ReconcileSource>> rehearsal_of(const Arguments& arguments, const ReconcileSource& measured,
                                                    ReconcileMoment moment) {
  const auto some = [](ReconcileSource source) { return std::optional(std::move(source)); };
  if (const auto given = arguments.text("rehearsal"))
    return *given == "none" ? Result<std::optional<ReconcileSource>>() : run_source(*given, moment).map(some);
  if (!measured.record) return std::nullopt;
  const auto nearest = matching_rehearsal(*measured.record);
  if (!nearest) return tl::unexpected(nearest.error());
  if (!*nearest) return std::nullopt;
  return run_source((*nearest)->id, moment).map([&](ReconcileSource source) {
    source.notes.push_back((*nearest)->why);
    return some(std::move(source));
  });
}

/// Plan, rehearsal, measured: those that there are, in this order.
Result<Sources> sources_of(const Arguments& arguments) {
  auto plan = plan_of(arguments);
  if (!plan) return tl::unexpected(plan.error());
  const auto moment = *plan ? ReconcileMoment::fullest : ReconcileMoment::peak;
  auto measured = run_source(arguments.positionals.front(), moment);
  if (!measured) return tl::unexpected(measured.error());
  auto rehearsal = rehearsal_of(arguments, *measured, moment);
  if (!rehearsal) return tl::unexpected(rehearsal.error());
  Sources sources;
  if (*plan) sources.push_back(std::move(**plan));
  if (*rehearsal) sources.push_back(std::move(**rehearsal));
  sources.push_back(std::move(*measured));
  return sources;
}

Result<void> check(const Sources& sources, const Arguments& arguments) {
  if (sources.size() < 2)
    return fail(ErrorKind::usage, "there is nothing to reconcile it with", arguments.positionals.front(), usage,
                "'ullage diff' compares two runs of one kind");
  if (arguments.text("rehearsal").value_or("none") == "none") return {};
  if (sources[sources.size() - 2].column.id != "rehearsal")
    return fail(ErrorKind::usage, "this is no rehearsal", "--rehearsal " + *arguments.text("rehearsal"), usage);
  if (sources.back().column.id == "rehearsal")
    return fail(ErrorKind::usage, "both are rehearsals", arguments.positionals.front(), "a recording or a file",
                "'ullage diff' compares two rehearsals");
  return {};
}

/// What the sources say of the training; without what none says.
std::vector<findings::ConfigurationFact> facts_of(const Sources& sources) {
  std::vector<findings::ConfigurationFact> facts;
  for (const char* key : fact::all) {
    findings::ConfigurationFact fact{key, {}, false};
    for (const ReconcileSource& source : sources) {
      const auto known = source.facts.find(key);
      fact.values.push_back(known == source.facts.end() ? std::nullopt : std::optional(known->second));
    }
    if (std::ranges::any_of(fact.values, [](const auto& value) { return value.has_value(); }))
      facts.push_back(std::move(fact));
  }
  return facts;
}

/// The settings of the script that differ between two runs; what only one kind of run records is no difference.
void add_settings(const Sources& sources, std::vector<findings::ConfigurationFact>& facts) {
  if (sources.size() < 2) return;
  const std::size_t left = sources.size() - 2, right = sources.size() - 1;
  const auto &before = sources[left].record, &after = sources[right].record;
  if (!before || !after) return;
  const bool same_kind = before->summary.kind == after->summary.kind;
  for (const auto& one : store::differences(before->settings, after->settings)) {
    using store::SettingGroup;
    const bool told_by_both =
        one.group == SettingGroup::script || (same_kind && one.group == SettingGroup::environment);
    if (!told_by_both) continue;
    findings::ConfigurationFact fact{one.key, std::vector<std::optional<std::string>>(sources.size()), true};
    fact.values[left] = one.before.value_or("(not given)");
    fact.values[right] = one.after.value_or("(not given)");
    facts.push_back(std::move(fact));
  }
}

/// The ledgers of one moment, or, where one has none, of the totals.
ledger::Joined joined_of(const Sources& sources) {
  const bool moments = std::ranges::all_of(sources, [](const auto& source) { return source.ledger.has_value(); });
  std::vector<ledger::Line> ledgers;
  for (const ReconcileSource& source : sources) ledgers.push_back(moments ? *source.ledger : source.totals);
  if (sources.front().column.id == "plan") std::ranges::for_each(ledgers, ledger::by_parts_of_layers);
  ledger::Joined joined = ledger::join(std::move(ledgers));
  if (!moments)
    joined.notes.insert(
        joined.notes.begin(),
        "a source has no memory history: compared are the highest totals, and what lasts from step to step");
  return joined;
}

void compare_all(const Sources& sources, report::ReconcileView& view) {
  std::vector<findings::ColumnLimits> limits;
  for (const ReconcileSource& source : sources) limits.push_back(source.limits);
  for (std::size_t column = 0; column + 1 < sources.size(); ++column)
    view.comparisons.push_back(findings::compare(view.joined, view.configuration, limits, column, sources.size() - 1));
}

Result<ExitCode> run_reconcile(const Arguments& arguments) {
  if (arguments.positionals.size() != 1)
    return fail(ErrorKind::usage, "one run or file is needed", "ullage reconcile", usage);
  const auto sources = sources_of(arguments);
  if (!sources) return tl::unexpected(sources.error());
  if (const auto checked = check(*sources, arguments); !checked) return tl::unexpected(checked.error());
  report::ReconcileView view;
  view.configuration = facts_of(*sources);
  add_settings(*sources, view.configuration);
  view.joined = joined_of(*sources);
  for (const ReconcileSource& source : *sources) {
    view.columns.push_back(source.column);
    view.notes.insert(view.notes.end(), source.notes.begin(), source.notes.end());
  }
  compare_all(*sources, view);
  const std::string text = arguments.given("json") ? report::reconcile_json(view)
                                                   : report::reconcile_text(view, arguments.count("top").value_or(12));
  const bool partial = std::ranges::any_of(*sources, &ReconcileSource::partial);
  return print_result(text).map([partial] { return partial ? ExitCode::bad_input : ExitCode::yes; });
}

constexpr Flag reconcile_flags[] = {
    {"plan", "FILE",
     "what 'ullage plan ... --json' printed (- is the standard input); without it the plan that is kept with the run; "
     "none: no plan",
     FlagKind::text},
    {"rehearsal", "RUN",
     "a rehearsal of the same training, or a file with its result; without it the nearest of a recording's script in "
     "the history; none: no rehearsal",
     FlagKind::text},
    {"top", "N", "show the N largest differences; 0 shows all", FlagKind::count, "12"},
    store_flag,
    json_flag,
};

}  // namespace

const Command reconcile_command{
    "reconcile",
    "plan, rehearsal and measurement side by side, and why they differ",
    "RUN|FILE [--plan FILE] [--rehearsal RUN] [FLAGS]",
    "RUN is a recording (or a rehearsal, against a plan), FILE a memory snapshot of PyTorch. The ledgers stand side "
    "by\n"
    "side at the depth that all of them know, and add up in each column. Lines that differ have a cause where one is\n"
    "known, else they are unexplained residue.",
    {reconcile_flags, 1, false},
    run_reconcile};

}  // namespace ullage::cli
