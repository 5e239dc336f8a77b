// SPDX-License-Identifier: Apache-2.0
#include "findings/rule.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

void append(std::vector<Finding>& all, std::vector<Finding> some) {
  all.insert(all.end(), std::move_iterator(some.begin()), std::move_iterator(some.end()));
}

}  // namespace

const char* name_of(FindingLevel level) {
  return level == FindingLevel::problem ? "problem" : "opportunity";
}

Finding finding_of(const Rule& rule, std::uint64_t bytes, std::string title, CodeLine code) {
  Finding finding;
  finding.id = rule.id, finding.level = rule.level, finding.next = rule.next;
  finding.bytes = bytes, finding.bytes_are = "at the peak";
  finding.title = std::move(title), finding.code = std::move(code);
  return finding;
}

std::span<const Rule* const> rules() {
  static constexpr std::array all{
      &growth,
      &graph_kept,
      &unused_graph,
      &inference_without_no_grad,
      &zero_grad_missing,
      &workers_memory,
      &fragmentation,
      &no_hole,
      &headroom,
      &optimizer_peak,
      &attention_scores,
      &full_logits,
      &weight_copies,
      &gradient_copies,
      &gradients_kept,
      &outputs_kept,
      &frozen_activations,
      &avoidable_copies,
      &outside_pytorch,
      &load_peak,
      &peak_between_steps,
      &padding,
      &synchronisation,
      &transfer,
      &pageable_copies,
      &data_wait,
      &rank_imbalance,
  };
  return all;
}

const Rule* rule_of(std::string_view id) {
  const auto all = rules();
  const auto found = std::ranges::find(all, id, [](const Rule* rule) { return std::string_view(rule->id); });
  return found == all.end() ? nullptr : *found;
}

void rank(std::vector<Finding>& findings) {
  const auto key = [](const Finding& f) {
    return std::tuple(f.level, ~f.bytes, std::string_view(f.id), std::string_view(f.code.line));
  };
  std::ranges::stable_sort(findings, {}, key);
}

std::vector<Finding> findings_of(const Subject& subject) {
  std::vector<Finding> all;
  for (const Rule* rule : rules()) {
    if (rule->find != nullptr) append(all, rule->find(*rule, subject));
  }
  rank(all);
  return all;
}

std::vector<Finding> findings_of(const RunSteps& steps) {
  std::vector<Finding> all;
  for (const Rule* rule : rules()) {
    if (rule->find_in_steps != nullptr) append(all, rule->find_in_steps(*rule, steps));
  }
  rank(all);
  return all;
}

}  // namespace ullage::findings
