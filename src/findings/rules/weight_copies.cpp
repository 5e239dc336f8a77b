// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/same_sizes.hpp"

namespace ullage::findings {

namespace {

using ledger::TensorClass;

Finding make(const Rule& rule, const Subject& subject, const std::vector<AllocationId>& copies, std::string title,
             std::string expected) {
  Finding finding =
      finding_of(rule, sum_of(subject, copies), std::move(title), main_line(subject, copies, LineKind::own));
  finding.evidence.push_back(std::to_string(copies.size()) + " tensors");
  finding.evidence.push_back(std::move(expected));
  return finding;
}

// Casts inside a module, of half the size of one of its parameters.
std::vector<AllocationId> autocast_copies(const Subject& subject) {
  std::map<std::string_view, std::set<std::uint64_t>> parameters;
  for (const auto* tensor : subject.tensors(TensorClass::parameter)) {
    const std::string_view name = tensor->name;
    parameters[name.substr(0, std::min(name.rfind('.'), name.size()))].insert(tensor->bytes);
  }
  std::vector<AllocationId> result;
  for (const AllocationId id : subject.live()) {
    if (subject.category(id) != Category::activations || !subject.inside(id, "aten::_to_copy")) continue;
    const auto found = parameters.find(subject.module(id));
    if (found != parameters.end() && found->second.contains(subject.bytes(id) * 2)) result.push_back(id);
  }
  return result;
}

// Parameters of a name and size that another, trained parameter has too.
std::vector<AllocationId> second_model(const Subject& subject) {
  std::set<std::pair<std::string_view, std::uint64_t>> trained;
  std::map<std::uint64_t, const ledger::Tensor*> frozen;  // by address
  for (const auto* tensor : subject.tensors(TensorClass::parameter)) {
    if (tensor->frozen)
      frozen[tensor->address] = tensor;
    else
      trained.emplace(tensor->name, tensor->bytes);
  }
  std::vector<AllocationId> result;
  for (const AllocationId id : subject.live()) {
    const auto found = frozen.find(subject.allocations().address[id]);
    if (found == frozen.end() || subject.category(id) != Category::parameters) continue;
    if (trained.contains({found->second->name, found->second->bytes})) result.push_back(id);
  }
  return result;
}

// Made while loading, or older than the recording; what a step makes is no copy of weights.
std::vector<AllocationId> second_set(const Subject& subject) {
  auto candidates = without_owner(subject);
  std::erase_if(candidates, [&](AllocationId id) {
    const auto* birth = subject.birth(id);
    return birth != nullptr && birth->name != PhaseName::load;
  });
  return matching(subject, candidates, trained_sizes(subject));
}

std::vector<Finding> find_weight_copies(const Rule& rule, const Subject& subject) {
  std::vector<Finding> result;
  if (const auto copies = autocast_copies(subject); sum_of(subject, copies) >= subject.worth()) {
    result.push_back(make(rule, subject, copies, "autocast keeps 16-bit copies of the weights until backward is done",
                          "expected with autocast over fp32 weights; weights in bf16 need no copies"));
    result.back().next = "nothing, or weights in bf16 instead of autocast";
  }
  if (const auto copies = second_model(subject); sum_of(subject, copies) >= subject.worth())
    result.push_back(make(rule, subject, copies, "a second model with the same parameters is on the device",
                          "expected for a reference model, a teacher or averaged weights"));
  if (const auto copies = second_set(subject); sum_of(subject, copies) >= subject.worth())
    result.push_back(make(rule, subject, copies, "there is a second set of tensors of the sizes of the weights",
                          "expected for fp32 master weights, averaged weights or accumulated gradients"));
  return result;
}

}  // namespace

const Rule weight_copies{"weight_copies",
                         FindingLevel::opportunity,
                         "a second copy of the weights (double track)",
                         "The 16-bit copies that autocast makes of fp32 weights and keeps for backward; a second model "
                         "without gradients whose "
                         "parameters have the names and sizes of the trained one's; a set of tensors made while "
                         "loading whose sizes are those of the parameters one by one (at least "
                         "half of their bytes). Each of them can be intended; the finding says when that is so.",
                         "reference = copy.deepcopy(model)          # on the device, only read",
                         "keep the copy on the host or in 16 bits, share it, or train in bf16 where autocast makes it",
                         find_weight_copies};

}  // namespace ullage::findings
