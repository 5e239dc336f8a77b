// SPDX-License-Identifier: Apache-2.0
#include "findings/attention.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace ullage::findings {

namespace {

using attribution::Category;
using timeline::AllocationId;

constexpr std::string_view attention_operators[] = {"aten::softmax",     "aten::_softmax",
                                                    "aten::dropout",     "aten::native_dropout",
                                                    "aten::matmul",      "aten::bmm",
                                                    "aten::baddbmm",     "aten::where",
                                                    "aten::mul",         "aten::div",
                                                    "aten::add",         "aten::sub",
                                                    "aten::to",          "aten::_to_copy",
                                                    "aten::float",       "aten::type_as",
                                                    "aten::masked_fill", "aten::scaled_dot_product_attention"};

bool softmax(std::string_view operation) {
  return operation == "aten::softmax" || operation == "aten::_softmax";
}

bool alike(std::uint64_t size, std::uint64_t whole) {
  return size == whole || size * 2 == whole || size * 4 == whole || size == whole * 2 || size == whole * 4;
}

}  // namespace

AttentionMatrices attention_matrices(const ledger::Cut& cut) {
  const auto& all = *cut.allocations;
  const auto& labels = *cut.labels;
  const auto operation = [&](AllocationId id) { return labels.strings.text(labels.of[id].operation); };
  std::vector<AllocationId> activations;
  std::map<timeline::StringId, std::uint64_t> probabilities;  // by module
  for (AllocationId id = 0; id < all.count(); ++id) {
    if (!all.live_at(id, cut.events) || labels.of[id].category != Category::activations) continue;
    activations.push_back(id);
    if (!softmax(operation(id)) || labels.of[id].module == 0) continue;
    auto& whole = probabilities[labels.of[id].module];
    whole = std::max(whole, all.requested[id]);
  }
  AttentionMatrices result;
  result.modules = probabilities.size();
  for (const AllocationId id : activations) {
    const auto found = probabilities.find(labels.of[id].module);
    if (found == probabilities.end() || !alike(all.requested[id], found->second)) continue;
    if (std::ranges::find(attention_operators, operation(id)) != std::end(attention_operators))
      result.allocations.push_back(id);
  }
  return result;
}

}  // namespace ullage::findings
