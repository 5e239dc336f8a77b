// SPDX-License-Identifier: Apache-2.0
// A run made by hand: allocations with their lives, phases, named tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attribution/run_labels.hpp"

namespace ullage::attribution::test {

class RunBuilder {
 public:
  void phase(PhaseName name, std::uint32_t step) {
    end_phase();
    phases_.push_back({name, step, 0, timeline.events.count(), 0});
  }
  timeline::AllocationId allocate(std::uint64_t bytes, std::uint64_t address) {
    timeline.events.push_back({timeline::Action::alloc, address, bytes, 0, 0, timeline::no_stack});
    return ids_++;
  }
  void free(std::uint64_t address, std::uint64_t bytes) {
    timeline.events.push_back({timeline::Action::free_requested, address, bytes, 0, 0, timeline::no_stack});
    timeline.events.push_back({timeline::Action::free_completed, address, bytes, 0, 0, timeline::no_stack});
  }
  void mark() { cuts_.push_back(timeline.events.count()); }
  /// Names tensors at the last mark; the list is complete for their classes.
  void name(std::vector<Tensor> tensors) {
    TensorList list;
    list.mark = cuts_.size() - 1;
    for (const Tensor& tensor : tensors) list.complete[static_cast<std::size_t>(tensor.tensor_class)] = true;
    list.tensors = std::move(tensors);
    lists_.push_back(std::move(list));
  }
  Labels labels() {
    end_phase();
    allocations = timeline::allocations(timeline, timeline::settled_initial_state(timeline));
    RunEvidence evidence;
    evidence.timeline = &timeline;
    evidence.allocations = &allocations;
    evidence.phases = phases_;
    evidence.lists = lists_;
    evidence.cuts = cuts_;
    return label_run(evidence);
  }

  timeline::Timeline timeline;
  timeline::Allocations allocations;

 private:
  void end_phase() {
    if (!phases_.empty()) phases_.back().end = timeline.events.count();
  }
  timeline::AllocationId ids_ = 0;
  std::vector<PhaseSpan> phases_;
  std::vector<TensorList> lists_;
  std::vector<std::size_t> cuts_;
};

inline Tensor tensor(TensorClass tensor_class, std::uint64_t address, std::uint64_t bytes, std::string name = "a.w",
                     std::string state = "") {
  return {tensor_class, std::move(name), std::move(state), "float32", "", address, bytes};
}

}  // namespace ullage::attribution::test
