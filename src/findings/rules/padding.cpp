// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/bytes.hpp"
#include "findings/attention.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

struct Shares {
  double tokens = 0;   ///< of the tokens that are padding
  double squares = 0;  ///< of the square of the sequence that is
  std::uint64_t kept = 0, all = 0;
  std::string line;
};

// Of the steps up to the peak's; the last mask where none is of that step.
Shares shares_of(const Subject& subject) {
  const auto masks = subject.facts().masks;
  const auto* peak = subject.peak_phase();
  const attribution::PaddingMask* chosen = nullptr;
  for (const auto& mask : masks) {
    if (mask.rows == 0 || mask.columns == 0 || mask.columns > (1ULL << 31) || mask.rows > (1ULL << 31)) continue;
    if (chosen == nullptr || peak == nullptr || mask.step <= peak->step) chosen = &mask;
  }
  if (chosen == nullptr) return {};
  const double all = static_cast<double>(chosen->rows) * static_cast<double>(chosen->columns);
  const double squares = all * static_cast<double>(chosen->columns);
  return {std::clamp(1 - static_cast<double>(chosen->kept) / all, 0.0, 1.0),
          std::clamp(1 - static_cast<double>(chosen->kept_squared) / squares, 0.0, 1.0), chosen->kept,
          chosen->rows * chosen->columns, chosen->line};
}

std::uint64_t part(double share, std::uint64_t bytes) {
  return static_cast<std::uint64_t>(share * static_cast<double>(bytes));
}

std::vector<Finding> find_padding(const Rule& rule, const Subject& subject) {
  const Shares shares = shares_of(subject);
  if (shares.tokens < 0.05) return {};
  const auto matrices = attention_matrices(subject.facts().peak).allocations;
  std::uint64_t inputs = 0, activations = 0;
  for (const AllocationId id : subject.live()) {
    if (subject.category(id) == Category::inputs) inputs += subject.bytes(id);
    if (subject.category(id) == Category::activations && !std::ranges::binary_search(matrices, id))
      activations += subject.bytes(id);
  }
  const std::uint64_t attention = part(shares.squares, sum_of(subject, matrices));
  inputs = part(shares.tokens, inputs), activations = part(shares.tokens, activations);
  if (inputs + activations + attention < subject.worth()) return {};
  const auto percent = static_cast<int>(shares.tokens * 100 + 0.5);
  Finding finding = finding_of(rule, inputs + activations + attention,
                               std::to_string(percent) + " % of the tokens are padding", {shares.line, {}});
  finding.bytes_are = "at the peak, at most";
  finding.evidence.push_back(std::to_string(shares.kept) + " of " + std::to_string(shares.all) +
                             " tokens are not padding");
  finding.evidence.push_back(format_bytes(inputs) + " of inputs, " + format_bytes(activations) + " of activations, " +
                             format_bytes(attention) + " of attention matrices");
  return {finding};
}

}  // namespace

const Rule padding{
    "padding",
    FindingLevel::opportunity,
    "much of the batch is padding",
    "The mask that the outermost forward was given says how many tokens are padding (5 % or more). The bytes are that "
    "share of the inputs and activations alive at the peak, and of attention matrices the share of the square, as far "
    "as "
    "they grow with the sequence.",
    "tokenizer(texts, padding=\"max_length\", max_length=2048)",
    "pad to the longest of the batch, group texts of similar length, or pack them",
    find_padding};

}  // namespace ullage::findings
