// SPDX-License-Identifier: Apache-2.0
// Where in the program a call of a Trace stands: the operator a person would name, the module, forward or backward.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attribution/labels.hpp"
#include "timeline/allocations.hpp"
#include "timeline/trace.hpp"

namespace ullage::attribution {

/// Of one call. Backward work is charged to the forward operator and module that caused it: the autograd node carries
/// the sequence number of that operator (torch/csrc/autograd/profiler_kineto.cpp).
struct Place {
  timeline::CallId operation = timeline::no_call;  ///< the outermost operator around it; of the forward in a backward
  timeline::CallId module = timeline::no_call;     ///< the innermost module around it
  timeline::CallId node = timeline::no_call;       ///< the autograd node that runs; none outside a backward pass
  timeline::CallId annotation = timeline::no_call;
  timeline::CallId outermost = timeline::no_call;  ///< the operator that runs, forward or backward
  bool recomputed = false;                         ///< a module's forward inside a backward pass
};

class Places {
 public:
  /// The trace must be linked and outlive this.
  explicit Places(const timeline::Trace& trace);
  /// Of a call; of `no_call` nothing is known.
  [[nodiscard]] Place of(timeline::CallId call);
  /// Whether the autograd engine runs a node in this call: by its name, or, before torch 1.9's names, because it
  /// carries a forward thread and a sequence number.
  [[nodiscard]] bool is_node(timeline::CallId call) const;

  /// The last call outside backward passes on a thread that carries a sequence number; `no_call` when none does.
  [[nodiscard]] timeline::CallId forward_with(std::uint32_t thread, std::int32_t sequence) const;
  /// Whether the engine ran a node with the number that a call of this thread carried.
  [[nodiscard]] bool ran(std::uint32_t thread, std::int32_t sequence) const;

 private:
  [[nodiscard]] timeline::CallId forward_of(timeline::CallId node) const;
  void learn_threads();
  void assign_threads(std::vector<std::vector<std::uint32_t>>& votes);
  Place walk(timeline::CallId call);

  const timeline::Trace& trace_;
  bool named_nodes_ = false;                                         ///< the engine's own ranges are in the trace
  std::unordered_map<std::uint64_t, timeline::CallId> by_sequence_;  ///< (thread, sequence) -> the latest such call
  std::unordered_set<std::uint64_t> ran_;                            ///< the same keys, of nodes that ran
  std::vector<std::uint32_t> thread_of_forward_;                     ///< PyTorch's number -> index into threads
  std::unordered_map<timeline::CallId, Place> known_;
};

/// The dotted name in a call's `transformer.h.0.attn|GPT2Attention`; the class where there is none (the outermost).
std::string_view dotted_name(std::string_view call_name);

/// Writes where an allocation was made into its label: the module, unless the label has one, and the operator, with
/// ` backward` behind it for the backward of one.
void take_place(const timeline::Trace& trace, const Place& place, Labels& labels, timeline::AllocationId id);

/// The name of an autograd node, `AddmmBackward0`; empty when the call is none.
std::string_view node_name(std::string_view call_name);

/// The innermost call around each allocation's birth: allocations and the trace's memory events are the same when
/// address and time agree (both clocks are the host's; within two milliseconds). `no_call` where there is none.
std::vector<timeline::CallId> calls_of(const timeline::Allocations& allocations, const timeline::Timeline& timeline,
                                       const timeline::Trace& trace);

}  // namespace ullage::attribution
