// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

constexpr std::uint64_t one_in = 10;

std::string peak_text(const RankFigures& rank) {
  return fmt::format("rank {}: {} in {}", rank.rank, format_bytes(rank.peak_allocated), rank.where);
}

std::vector<Finding> find_rank_imbalance_in_steps(const Rule& rule, const RunSteps& steps) {
  if (steps.ranks.size() < 2) return {};
  const auto [least, most] = std::ranges::minmax_element(steps.ranks, {}, &RankFigures::peak_allocated);
  const std::uint64_t more = most->peak_allocated - least->peak_allocated;
  if (more < std::max(worth_of(most->peak_allocated), most->peak_allocated / one_in)) return {};
  Finding finding = finding_of(
      rule, more, fmt::format("rank {} peaks {} above rank {}", most->rank, format_bytes(more), least->rank));
  finding.bytes_are = "more on one rank";
  finding.evidence = {peak_text(*most), peak_text(*least)};
  if (most->tokens_per_step > 0 && least->tokens_per_step > 0)
    finding.evidence.push_back(
        fmt::format("tokens of a step: {:.0f} and {:.0f}", most->tokens_per_step, least->tokens_per_step));
  return {finding};
}

}  // namespace

const Rule rank_imbalance{"rank_imbalance",
                          FindingLevel::opportunity,
                          "one rank needs much more memory than another",
                          "Of the ranks of one recording, the highest peak of allocated memory is a tenth (and 1 MiB) "
                          "above the lowest: all ranks "
                          "get the same GPU, so the batch must suit the fullest. Expected of pipeline stages, and of a "
                          "rank that keeps something "
                          "for all.",
                          "if rank == 0: ema = copy.deepcopy(model)",
                          "shard what one rank keeps; give stages or experts that need more fewer layers; batches of "
                          "like length to all ranks",
                          nullptr,
                          find_rank_imbalance_in_steps};

}  // namespace ullage::findings
