// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/steps.hpp"

#include "apps/ullage/paths.hpp"
#include "apps/ullage/recording/times.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;
using findings::RankFigures;
using findings::RunSteps;
using ingest::RunFacts;

constexpr std::size_t most_ranks = 1024;
constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 30;

std::vector<ledger::Phase> phases_of(const RunFacts& facts) {
  auto phases = ledger::split_phases(facts.marks);
  ledger::measure_phases(phases, facts.marks, {}, ledger::KnownBy::measured);
  return phases;
}

std::vector<findings::StepTime> times_of(const RunFacts& facts) {
  std::map<std::uint32_t, double> waited;
  for (const auto& loads : facts.loads) {
    for (const std::uint64_t ns : loads.ns) waited[loads.step] += static_cast<double>(ns) / 1e9;
  }
  std::vector<findings::StepTime> times;
  for (const auto& [step, seconds] : step_durations(facts)) {
    const auto found = waited.find(step);
    times.push_back({step, seconds, found == waited.end() ? 0 : found->second});
  }
  return times;
}

/// The most that was seen at once, pinned memory apart.
std::uint64_t host_bytes_of(const RunFacts& facts) {
  const auto less = [](std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); };
  std::uint64_t most = 0;
  for (const auto& sample : facts.samples)
    most = std::max(most, less(sample.resident_bytes, sample.pinned_bytes) + sample.children_bytes);
  for (const auto& host : facts.host)
    most = std::max(
        most, less(host.peak_resident_bytes, host.device_pages_bytes + host.hook_bytes + host.pinned_touched_bytes));
  return most;
}

double tokens_per_step(const RunFacts& facts) {
  std::set<std::uint32_t> steps;
  double tokens = 0;
  for (const auto& told : facts.tokens) steps.insert(told.step), tokens += static_cast<double>(told.tokens);
  return steps.empty() ? 0 : tokens / static_cast<double>(steps.size());
}

/// Nothing of a rank without device memory.
std::optional<RankFigures> figures_of(const RunFacts& facts) {
  const auto phases = phases_of(facts);
  if (!facts.recording || !facts.recording->rank || phases.empty()) return std::nullopt;
  const auto highest = std::ranges::max_element(phases, {}, &ledger::Phase::peak_allocated);
  if (highest->peak_allocated == 0) return std::nullopt;
  return RankFigures{*facts.recording->rank, highest->peak_allocated, ledger::title_of(*highest),
                     tokens_per_step(facts)};
}

std::optional<RunFacts> facts_in(const fs::path& folder) {
  const fs::path path = folder / "marks.jsonl";
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > most_bytes || error) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  return ingest::read_run_facts(std::string(std::istreambuf_iterator(file), {}));
}

std::vector<RankFigures> ranks_beside(const std::string& directory) {
  std::vector<RankFigures> ranks;
  const fs::path own = full_path(directory);
  const fs::path folder = (own.has_filename() ? own : own.parent_path()).parent_path();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (ranks.size() == most_ranks || !entry.path().filename().string().starts_with("rank-")) continue;
    if (const auto facts = facts_in(entry.path()))
      if (auto figures = figures_of(*facts)) ranks.push_back(std::move(*figures));
  }
  std::ranges::sort(ranks, {}, &RankFigures::rank);
  return ranks;
}

}  // namespace

RunSteps steps_of(const ingest::RunDirectory& run) {
  const RunFacts& facts = run.whole_facts();
  RunSteps steps;
  steps.marks = facts.marks;
  steps.phases = phases_of(facts);
  steps.recorded = facts.recording.has_value();
  if (steps.recorded) steps.times = times_of(facts);
  steps.kept_gradients = facts.kept_gradients;
  steps.loaders = facts.loaders;
  steps.host_bytes = host_bytes_of(facts);
  if (facts.recording && facts.recording->rank) steps.ranks = ranks_beside(run.path);
  return steps;
}

}  // namespace ullage::cli
