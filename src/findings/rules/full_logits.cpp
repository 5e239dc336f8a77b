// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "findings/lines.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

std::string_view without_backward(std::string_view operation) {
  constexpr std::string_view suffix = " backward";
  if (operation.ends_with(suffix)) operation.remove_suffix(suffix.size());
  return operation;
}

bool of_loss(std::string_view operation) {
  constexpr std::string_view operators[] = {"aten::cross_entropy_loss", "aten::log_softmax", "aten::_log_softmax",
                                            "aten::nll_loss", "aten::nll_loss_nd"};
  return std::ranges::find(operators, without_backward(operation)) != std::end(operators);
}

bool of_logits(std::string_view operation) {
  constexpr std::string_view operators[] = {"aten::linear",     "aten::matmul",   "aten::addmm",   "aten::mm",
                                            "aten::to",         "aten::_to_copy", "aten::float",   "aten::clone",
                                            "aten::contiguous", "aten::reshape",  "aten::flatten", "aten::slice"};
  operation = without_backward(operation);
  return of_loss(operation) || std::ranges::find(operators, operation) != std::end(operators);
}

// A shifted copy is a little smaller; half of it is the same in 16 bits.
bool alike(std::uint64_t size, std::uint64_t whole) {
  const auto near = [](std::uint64_t a, std::uint64_t b) { return a <= b + b / 50 && b <= a + a / 50; };
  return near(size, whole) || near(size * 2, whole) || near(size, whole * 2);
}

std::vector<Finding> find_full_logits(const Rule& rule, const Subject& subject) {
  std::uint64_t whole = 0;
  for (const AllocationId id : subject.live()) {
    if (of_loss(subject.operation(id))) whole = std::max(whole, subject.bytes(id));
  }
  if (whole < subject.worth()) return {};
  std::vector<AllocationId> logits, of_the_loss;
  for (const AllocationId id : subject.live()) {
    const Category category = subject.category(id);
    const bool owned =
        category == Category::parameters || category == Category::gradients || category == Category::optimizer_state;
    if (owned || !alike(subject.bytes(id), whole) || !of_logits(subject.operation(id))) continue;
    logits.push_back(id);
    if (of_loss(subject.operation(id))) of_the_loss.push_back(id);
  }
  if (logits.size() < 2) return {};
  const CodeLine code = main_line(subject, of_the_loss);
  Finding finding = finding_of(rule, sum_of(subject, logits),
                               std::to_string(logits.size()) + " tensors of the size of the full logits are alive",
                               code.line.empty() ? main_line(subject, logits) : code);
  finding.evidence = parts_of(subject, logits, 5);
  return {finding};
}

}  // namespace

const Rule full_logits{
    "full_logits",
    FindingLevel::opportunity,
    "full logits and copies of them",
    "At the peak a cross entropy holds a tensor of all tokens (or rows) by the whole vocabulary (or all classes), and "
    "others of the same number of elements are alive beside it: the logits, their fp32 copy, a shifted copy, their "
    "gradient.",
    "logits = model(tokens).float()            # tokens x vocabulary, in fp32\nloss = "
    "F.cross_entropy(logits.flatten(0, 1), "
    "targets.flatten())",
    "compute the loss in chunks of tokens (with checkpointing), or with a fused linear cross entropy",
    find_full_logits};

}  // namespace ullage::findings
