// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/reconciling/matching.hpp"

#include "apps/ullage/history/location.hpp"
#include "store/configuration.hpp"
#include "store/store.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

/// The latest rehearsals of a script, the newest first.
Result<std::vector<store::Row>> rehearsals_of(store::Store& store, const std::string& script) {
  store::Query query;
  query.filter.kinds = {"rehearsal"};
  query.filter.script = script.substr(script.find_last_of('/') + 1);
  query.limit = 20;
  return store.list(query);
}

/// In how many arguments of the script two runs differ.
std::ptrdiff_t differing_arguments(const store::Record& one, const store::Record& other) {
  return std::ranges::count_if(store::differences(one.settings, other.settings),
                               [](const auto& difference) { return difference.group == store::SettingGroup::script; });
}

std::string said_of(const store::Summary& run, std::ptrdiff_t differing) {
  const std::string which = run.name.empty() ? run.id : fmt::format("{} ({})", run.id, run.name);
  const std::string how = differing == 0   ? std::string("the newest of this script with the same arguments")
                          : differing == 1 ? std::string("the nearest of this script: one argument differs")
                                           : fmt::format("the nearest of this script: {} arguments differ", differing);
  return fmt::format("the rehearsal is {}, {}; --rehearsal names another, or none", which, how);
}

}  // namespace

Result<std::optional<MatchingRehearsal>> matching_rehearsal(const store::Record& recording) {
  std::optional<MatchingRehearsal> nearest;
  if (recording.summary.kind != "recording" || recording.summary.script.empty()) return nearest;
  auto store = open_store();
  if (!store) return tl::unexpected(store.error());
  if (!*store) return nearest;
  const auto rows = rehearsals_of(**store, recording.summary.script);
  if (!rows) return tl::unexpected(rows.error());
  std::ptrdiff_t least = 0;
  for (const store::Row& row : *rows) {
    const auto source = (*store)->find(row.summary.id);
    if (!source || !*source) continue;
    const auto rehearsal = store::record_of(**source);
    if (!rehearsal) continue;
    const std::ptrdiff_t differing = differing_arguments(*rehearsal, recording);
    if (nearest && differing >= least) continue;
    least = differing;
    nearest = MatchingRehearsal{row.summary.id, said_of(row.summary, differing)};
  }
  return nearest;
}

}  // namespace ullage::cli
