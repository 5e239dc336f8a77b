// SPDX-License-Identifier: Apache-2.0
#include "findings/same_sizes.hpp"

#include <set>
#include <string_view>

namespace ullage::findings {

using ledger::TensorClass;

Sizes trained_sizes(const Subject& subject) {
  std::set<std::string_view> trained;
  for (const auto* gradient : subject.tensors(TensorClass::gradient)) trained.insert(gradient->name);
  Sizes sizes;
  std::set<std::uint64_t> storages;  // tied parameters have one
  for (const auto* parameter : subject.tensors(TensorClass::parameter)) {
    if (!trained.empty() && !trained.contains(parameter->name)) continue;
    if (storages.insert(parameter->address).second) ++sizes[parameter->bytes];
  }
  return sizes;
}

namespace {

std::uint64_t total(const Sizes& sizes) {
  std::uint64_t sum = 0;
  for (const auto& [bytes, count] : sizes) sum += bytes * count;
  return sum;
}

struct Match {
  std::vector<AllocationId> allocations;
  std::uint64_t parameter_bytes = 0;
};

// `numerator / denominator` of a parameter's bytes.
Match match(const Subject& subject, std::span<const AllocationId> allocations, Sizes left, std::uint64_t numerator,
            std::uint64_t denominator) {
  Match result;
  for (const AllocationId id : allocations) {
    const auto found = left.find(subject.bytes(id) * denominator / numerator);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    result.allocations.push_back(id);
    result.parameter_bytes += found->first;
  }
  return result;
}

}  // namespace

std::vector<AllocationId> matching(const Subject& subject, std::span<const AllocationId> allocations,
                                   const Sizes& sizes) {
  Match best;
  for (const auto& [numerator, denominator] : {std::pair{1, 1}, {2, 1}, {1, 2}}) {
    Match found = match(subject, allocations, sizes, static_cast<std::uint64_t>(numerator),
                        static_cast<std::uint64_t>(denominator));
    if (found.parameter_bytes > best.parameter_bytes) best = std::move(found);
  }
  if (best.allocations.size() < 2 || best.parameter_bytes * 2 < total(sizes)) return {};
  return std::move(best.allocations);
}

std::vector<AllocationId> without_owner(const Subject& subject) {
  std::vector<AllocationId> result;
  for (const AllocationId id : subject.live()) {
    const Category category = subject.category(id);
    const bool state_of_optimizer = category == Category::optimizer_state && subject.kind(id) != "not named" &&
                                    subject.kind(id).find('.') == std::string_view::npos;
    if (category == Category::parameters || category == Category::gradients || category == Category::workspaces ||
        state_of_optimizer)
      continue;
    result.push_back(id);
  }
  return result;
}

}  // namespace ullage::findings
