// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "attribution/run_labels.hpp"

namespace ullage::attribution {

namespace {

using timeline::AllocationId;

Category category_of(TensorClass tensor_class) {
  switch (tensor_class) {
    case TensorClass::parameter:
    case TensorClass::buffer:
      return Category::parameters;
    case TensorClass::gradient:
      return Category::gradients;
    case TensorClass::optimizer_state:
    case TensorClass::held:
      return Category::optimizer_state;
    case TensorClass::input:
      return Category::inputs;
    case TensorClass::output:
      break;
  }
  return Category::unattributed;
}

std::string kind_of(const Tensor& tensor) {
  if (tensor.tensor_class == TensorClass::parameter) return "weights";
  if (tensor.tensor_class == TensorClass::buffer) return "buffers";
  if (tensor.tensor_class == TensorClass::optimizer_state) return tensor.state.empty() ? "other" : tensor.state;
  return tensor.tensor_class == TensorClass::held ? tensor.name : "";
}

// `transformer.h.0.attn.c_attn.weight` belongs to the module `transformer.h.0.attn.c_attn`.
std::string module_of(const Tensor& tensor) {
  if (tensor.tensor_class == TensorClass::input || tensor.tensor_class == TensorClass::held) return {};
  const auto dot = tensor.name.rfind('.');
  return dot == std::string::npos ? std::string() : tensor.name.substr(0, dot);
}

// The lists that hold at a mark, the latest first, for one class.
std::vector<const TensorList*> valid_lists(std::span<const TensorList> lists, std::size_t mark, TensorClass wanted) {
  std::vector<const TensorList*> result;
  for (std::size_t i = lists.size(); i-- > 0;) {
    if (lists[i].mark > mark) continue;
    result.push_back(&lists[i]);
    if (lists[i].complete[static_cast<std::size_t>(wanted)]) break;
  }
  return result;
}

class Namer {
 public:
  Namer(const RunEvidence& evidence, Labels& labels)
      : evidence_(evidence), labels_(labels), index_(*evidence.allocations), rank_(labels.of.size(), tensor_classes) {
    for (const TensorList& list : evidence.lists) {
      for (const Tensor& tensor : list.tensors) {
        if (tensor.tensor_class == TensorClass::parameter) parameter_bytes_.insert(tensor.bytes);
      }
    }
  }

  void run() {
    for (std::size_t mark = 0; mark < evidence_.cuts.size(); ++mark) {
      for (std::size_t c = 0; c < tensor_classes; ++c) {
        const auto wanted = static_cast<TensorClass>(c);
        for (const TensorList* list : valid_lists(evidence_.lists, mark, wanted)) {
          for (const Tensor& tensor : list->tensors) {
            if (tensor.tensor_class == wanted) name(tensor, mark);
          }
        }
      }
    }
  }

 private:
  void name(const Tensor& tensor, std::size_t mark) {
    auto id = index_.at(tensor.address, evidence_.cuts[mark]);
    // What is named at a failure is younger than the last mark before it.
    if (!id && mark + 1 < evidence_.cuts.size()) id = index_.at(tensor.address, evidence_.cuts[mark + 1]);
    const auto rank = static_cast<std::uint8_t>(tensor.tensor_class);
    if (!id || rank_[*id] <= rank) return;
    if (tensor.tensor_class == TensorClass::held && !like_a_parameter(tensor.bytes)) return;
    rank_[*id] = rank;
    Label& label = labels_.of[*id];
    label.name = labels_.strings.intern(tensor.name);
    label.category = category_of(tensor.tensor_class);
    if (label.category == Category::unattributed) return;
    label.by = AttributedBy::named;
    label.kind = labels_.strings.intern(kind_of(tensor));
    label.module = labels_.strings.intern(module_of(tensor));
  }

  // A moment or a master copy has a parameter's number of elements, in its own precision.
  [[nodiscard]] bool like_a_parameter(std::uint64_t bytes) const {
    return parameter_bytes_.contains(bytes) || parameter_bytes_.contains(bytes / 2) ||
           parameter_bytes_.contains(bytes * 2);
  }

  const RunEvidence& evidence_;
  Labels& labels_;
  timeline::AllocationIndex index_;
  std::vector<std::uint8_t> rank_;
  std::unordered_set<std::uint64_t> parameter_bytes_;
};

}  // namespace

void name_tensors(const RunEvidence& evidence, Labels& labels) {
  Namer(evidence, labels).run();
}

}  // namespace ullage::attribution
