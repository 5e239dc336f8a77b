// SPDX-License-Identifier: Apache-2.0
#include "findings/attention.hpp"

#include <algorithm>
#include <cstdint>
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

enum class Place : std::uint8_t { elsewhere, attention, softmax };

// By the names of the functions on the stack.
Place place_of(const timeline::Timeline& timeline, timeline::StackId stack) {
  bool attention = false, of_softmax = false;
  for (const timeline::FrameId id : timeline.stacks.stack(stack)) {
    const std::string_view name = timeline.strings.text(timeline.stacks.frame(id).name);
    of_softmax |= name == "softmax";
    attention |= name.find("attention") != name.npos || name.find("attn") != name.npos;
  }
  if (!attention) return Place::elsewhere;
  return of_softmax ? Place::softmax : Place::attention;
}

AttentionMatrices by_frames(const ledger::Cut& cut, const std::vector<AllocationId>& activations) {
  const auto& all = *cut.allocations;
  std::map<timeline::StackId, Place> places;
  const auto place = [&](AllocationId id) {
    const auto [found, is_new] = places.try_emplace(all.stack[id]);
    if (is_new) found->second = place_of(*cut.timeline, all.stack[id]);
    return found->second;
  };
  std::uint64_t whole = 0;
  for (const AllocationId id : activations) {
    if (place(id) == Place::softmax) whole = std::max(whole, all.requested[id]);
  }
  AttentionMatrices result;
  for (const AllocationId id : activations) {
    if (whole > 0 && place(id) != Place::elsewhere && alike(all.requested[id], whole)) result.allocations.push_back(id);
  }
  return result;
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
  if (probabilities.empty()) return by_frames(cut, activations);
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
