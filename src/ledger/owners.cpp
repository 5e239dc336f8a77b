// SPDX-License-Identifier: Apache-2.0
#include "ledger/owners.hpp"

#include <algorithm>
#include <unordered_set>

namespace ullage::ledger {

namespace {

std::uint64_t& account(OwnedBytes& owned, const Tensor& tensor) {
  switch (tensor.tensor_class) {
    case TensorClass::parameter:
      return owned.parameters;
    case TensorClass::buffer:
      return owned.buffers;
    case TensorClass::gradient:
      return owned.gradients;
    case TensorClass::optimizer_state:
    case TensorClass::input:
    case TensorClass::held:
    case TensorClass::output:
      break;
  }
  return owned.optimizer_state[tensor.state.empty() ? "other" : tensor.state];
}

// The first list that still holds for a class at a mark.
std::size_t first_valid(std::span<const TensorList> lists, std::size_t mark, std::size_t tensor_class) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].mark <= mark && lists[i].complete[tensor_class]) first = i;
  }
  return first;
}

// Calls `visit(tensor, mark where it was seen)` for all tensors that hold at `mark`, in the order in which classes own;
// within a class the latest list comes first.
template <class Visit>
void for_each_valid(std::span<const TensorList> lists, std::size_t mark, Visit visit) {
  for (std::size_t tensor_class = 0; tensor_class <= static_cast<std::size_t>(TensorClass::optimizer_state);
       ++tensor_class) {
    const std::size_t first = first_valid(lists, mark, tensor_class);
    for (std::size_t i = lists.size(); i-- > first;) {
      if (lists[i].mark > mark) continue;
      for (const Tensor& tensor : lists[i].tensors) {
        if (static_cast<std::size_t>(tensor.tensor_class) == tensor_class) visit(tensor, lists[i].mark);
      }
    }
  }
}

}  // namespace

std::uint64_t OwnedBytes::total() const {
  std::uint64_t sum = parameters + buffers + gradients;
  for (const auto& [state, bytes] : optimizer_state) sum += bytes;
  return sum;
}

OwnedBytes owned_by_sizes(std::span<const TensorList> lists, std::size_t mark, std::uint64_t limit, OwnedSizes sizes) {
  OwnedBytes owned;
  std::unordered_set<std::uint64_t> counted;
  std::uint64_t left = limit;
  for_each_valid(lists, mark, [&](const Tensor& tensor, std::size_t) {
    if (tensor.bytes > timeline::max_request_bytes || !counted.insert(tensor.address).second) return;
    const std::uint64_t bytes =
        std::min(left, sizes == OwnedSizes::requested ? tensor.bytes : timeline::round_size(tensor.bytes, {}));
    left -= bytes;
    account(owned, tensor) += bytes;
  });
  return owned;
}

}  // namespace ullage::ledger
