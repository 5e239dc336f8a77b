// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/cut.hpp"
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/explanation/explanation.hpp"
#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/stored_result.hpp"
#include "findings/first_change.hpp"

namespace ullage::cli {
namespace {

std::vector<report::Suggestion> changes_of_whole_run(const std::string& path) {
  std::vector<report::Suggestion> suggestions;
  const auto whole = open_evidence(path);
  if (!whole || (*whole)->timeline == nullptr || !(*whole)->account) return suggestions;
  const auto peak = choose_cut(**whole, "peak");
  if (!peak) return suggestions;
  for (auto& change : findings::changes_at(peak->cut)) {
    const auto saves = static_cast<std::int64_t>(change.saves);
    suggestions.push_back({std::move(change.text), std::move(change.basis), report::Between{saves, saves}});
  }
  return suggestions;
}

}  // namespace

void explain_whole_run(const Evidence& evidence, report::ExplainView& view) {
  if (!has_unlimited_run(evidence.path)) return;
  const auto record = read_record(evidence.path);
  if (!record) return;
  const auto result = stored_result(record->source.run_json, evidence.path);
  if (!result || !result->needed_bytes) return;
  view.whole = report::WholeRun{*result->needed_bytes, result->missing_bytes,
                                changes_of_whole_run(unlimited_run(evidence.path).string())};
}

}  // namespace ullage::cli
