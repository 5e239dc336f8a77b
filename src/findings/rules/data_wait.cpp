// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "findings/rules/all.hpp"
#include "findings/trend.hpp"

namespace ullage::findings {

namespace {

constexpr std::size_t least_steps = 5;
constexpr double least_share = 0.2, least_seconds = 0.001;

std::string settings_of(const attribution::Loader& loader) {
  return fmt::format("the DataLoader has num_workers={}, pin_memory={}", loader.workers, loader.pin_memory) +
         (loader.workers > 0 ? fmt::format(", prefetch_factor={}", loader.prefetch_factor) : std::string());
}

std::vector<Finding> find_data_wait_in_steps(const Rule& rule, const RunSteps& steps) {
  std::vector<double> shares, waits, durations;
  for (const StepTime& step : steps.times) {
    if (step.seconds <= 0) continue;
    shares.push_back(std::min(1.0, step.waited_seconds / step.seconds));
    waits.push_back(step.waited_seconds), durations.push_back(step.seconds);
  }
  const double share = median(shares), wait = median(waits);
  if (!steps.recorded || shares.size() < least_steps || share < least_share || wait < least_seconds) return {};
  Finding finding = finding_of(rule, 0, fmt::format("{:.0f} % of a step is spent waiting for data", 100 * share));
  finding.bytes_are = "of time";
  finding.evidence.push_back(fmt::format("{:.1f} ms of {:.1f} ms, the medians of {} steps", 1000 * wait,
                                         1000 * median(durations), shares.size()));
  const auto often = std::ranges::count_if(shares, [](double one) { return one >= least_share; });
  finding.evidence.push_back(fmt::format("in {} of {} steps it was 20 % or more", often, shares.size()));
  if (!steps.loaders.empty()) finding.evidence.push_back(settings_of(steps.loaders.front()));
  return {finding};
}

}  // namespace

const Rule data_wait{
    "data_wait",
    FindingLevel::opportunity,
    "the training waits for its DataLoader",
    "In the median of at least five steps of a recording, the script's own process waits for a fifth of the step or "
    "more "
    "(and 1 ms) inside its DataLoader. A median, so that the start of the workers at each epoch and an evaluation now "
    "and "
    "then do not count. Batches that come from elsewhere are not seen. A rehearsal computes nothing: there the share "
    "would "
    "mean nothing, and the rule is silent.",
    "loader = DataLoader(dataset, batch_size=64)      # num_workers=0: batches are made between two steps",
    "num_workers > 0 (and persistent_workers), a larger prefetch_factor, less work for each sample",
    nullptr,
    find_data_wait_in_steps};

}  // namespace ullage::findings
