// SPDX-License-Identifier: Apache-2.0
#include "findings/attention.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

std::vector<Finding> find_attention_scores(const Rule& rule, const Subject& subject) {
  const AttentionMatrices found = attention_matrices(subject.facts().peak);
  const std::uint64_t sum = sum_of(subject, found.allocations);
  if (sum < subject.worth()) return {};
  Finding finding =
      finding_of(rule, sum,
                 "attention matrices " +
                     (found.modules > 0 ? "of " + std::to_string(found.modules) + " modules " : std::string()) +
                     "are kept for backward",
                 main_line(subject, found.allocations));
  finding.evidence = parts_of(subject, found.allocations);
  return {finding};
}

}  // namespace

const Rule attention_scores{
    "attention_scores",
    FindingLevel::opportunity,
    "attention score matrices are materialised",
    "Modules that run a softmax (without operators: functions of attention that call one) keep matrices of the size of "
    "its result: scores, probabilities, dropout and its mask. "
    "They grow with the square of the sequence. Fused attention computes them in pieces and keeps none.",
    "scores = (q @ k.transpose(-2, -1)) * scale\nout = scores.softmax(-1) @ v",
    "torch.nn.functional.scaled_dot_product_attention, or attn_implementation=\"sdpa\"",
    find_attention_scores};

}  // namespace ullage::findings
