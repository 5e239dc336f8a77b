// SPDX-License-Identifier: Apache-2.0
// `ullage diff`: what changed from one ledger to another.
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/cut.hpp"
#include "apps/ullage/evidence/levels.hpp"
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/evidence/view.hpp"
#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/history/open.hpp"
#include "apps/ullage/history/stored_result.hpp"
#include "apps/ullage/output.hpp"
#include "ledger/reconciliation.hpp"
#include "report/difference_view.hpp"

#include <algorithm>

namespace ullage::cli {
namespace {

/// One of the two: what it is of, and its ledger.
struct Side {
  std::string path, moment, producer;
  ledger::Line ledger;
  report::EvidenceView evidence;
  std::optional<store::Record> record = {};  ///< of a run that has a result
};

constexpr const char* peak_alone = "only the ledger at the peak is known of a run whose directory is gone";

/// Of a run whose directory is gone: the ledger of its result.
Result<Side> stored_side(const std::string& argument, const std::string& moment) {
  auto record = open_record(argument);
  if (!record) return tl::unexpected(record.error());
  if (moment != "peak") return fail(ErrorKind::usage, peak_alone, "--at " + moment, "--at peak");
  auto result = stored_result(record->source.run_json, record->summary.directory);
  if (!result) return tl::unexpected(result.error());
  if (!result->ledger) return fail(ErrorKind::bad_input, "the result of this run has no ledger", record->summary.id);
  return Side{record->summary.id,
              result->ledger_of,
              record->summary.kind + ", torch " + record->summary.torch,
              std::move(*result->ledger),
              {},
              std::move(*record)};
}

/// True for a run of the history that has lost its directory.
bool is_gone(const std::string& argument) {
  const auto place = resolve_run(argument, RunPart::result);
  return place && !place->id.empty() && !is_run_directory(place->directory);
}

Result<Side> side_of(const std::string& argument, const std::string& moment, std::span<const ledger::Level> levels) {
  if (argument != "-" && is_gone(argument)) return stored_side(argument, moment);
  // The phases that are compared beside are those of whole steps.
  const auto evidence = moment == "peak" ? open_whole_run_or_file(argument) : open_run_or_file(argument);
  if (!evidence) return tl::unexpected(evidence.error());
  const auto chosen = choose_cut(**evidence, moment);
  if (!chosen) return tl::unexpected(chosen.error());
  Side side{(*evidence)->path, chosen->title, (*evidence)->producer, ledger::chart(chosen->cut, levels),
            evidence_view(**evidence)};
  if ((*evidence)->run)
    if (auto record = read_record(directory_with_result(side.path).string())) side.record = std::move(*record);
  return side;
}

/// Settings and phases, where both are runs with a result.
void compare_runs(const Side& before, const Side& after, report::DifferenceView& view) {
  if (!before.record || !after.record) return;
  for (const auto& one : store::differences(before.record->settings, after.record->settings))
    view.settings.push_back({name_of(one.group), one.key, one.before, one.after, store::is_chosen(one.group)});
  for (const store::PhasePeak& peak : store::phase_peaks(before.record->phases))
    view.phases.push_back({peak.name, peak.allocated, {}});
  for (const store::PhasePeak& peak : store::phase_peaks(after.record->phases)) {
    const auto known = std::ranges::find(view.phases, peak.name, &report::ChangedPhase::name);
    if (known != view.phases.end())
      known->after = peak.allocated;
    else
      view.phases.push_back({peak.name, {}, peak.allocated});
  }
}

void say_what_is_partial(const Side& side, std::vector<std::string>& notes) {
  if (!side.evidence.partial) return;
  for (const std::string& missing : side.evidence.missing) notes.push_back(side.path + " is partial: " + missing);
}

Result<ExitCode> run_diff(const Arguments& arguments) {
  if (arguments.positionals.size() != 2)
    return fail(ErrorKind::usage, "two runs or files are needed", "ullage diff", "ullage diff BEFORE AFTER");
  const auto levels = levels_of(arguments.text("by").value_or(""));
  if (!levels) return tl::unexpected(levels.error());
  const std::string moment = arguments.text("at").value_or("peak");
  auto before = side_of(arguments.positionals[0], moment, *levels);
  if (!before) return tl::unexpected(before.error());
  auto after = side_of(arguments.positionals[1], moment, *levels);
  if (!after) return tl::unexpected(after.error());
  std::vector<std::string> notes = ledger::to_common_root({&before->ledger, &after->ledger});
  for (const Side* side : {&*before, &*after}) say_what_is_partial(*side, notes);
  report::DifferenceView view{before->path,
                              after->path,
                              before->moment,
                              after->moment,
                              ledger::difference(before->ledger, after->ledger),
                              std::move(notes),
                              {},
                              {}};
  compare_runs(*before, *after, view);
  if (before->producer != after->producer)
    view.notes.push_back("of different origin: " + before->producer + "; " + after->producer);
  const std::string text = arguments.given("json") ? report::difference_json(view)
                                                   : report::difference_text(view, arguments.count("top").value_or(20));
  const bool partial = before->evidence.partial || after->evidence.partial;
  return print_result(text).map([partial] { return partial ? ExitCode::bad_input : ExitCode::yes; });
}

constexpr Flag diff_flags[] = {
    at_flag,
    {"by", "LEVELS", "compare down to: kind, module, layer, operator, line, tensor, block", FlagKind::text,
     "category,kind,layer,operator"},
    {"top", "N", "show the N largest changes; 0 shows all", FlagKind::count, "20"},
    store_flag,
    json_flag,
};

}  // namespace

const Command diff_command{
    "diff",
    "what changed from one run or file to another, line by line",
    "BEFORE AFTER [FLAGS]",
    "Compares two ledgers at the same kind of moment: added, grown, shrunk and gone lines, the largest effect first. "
    "The\n"
    "differences add up to the difference of the totals. Of two runs the settings that differ and the phases are "
    "compared "
    "too.",
    {diff_flags, 2, false},
    run_diff};

}  // namespace ullage::cli
