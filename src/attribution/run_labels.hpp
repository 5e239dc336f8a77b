// SPDX-License-Identifier: Apache-2.0
// Labels of a run that told about itself: the tensors it named, its phases, and the operators that allocated.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "attribution/facts.hpp"
#include "attribution/labels.hpp"
#include "timeline/allocations.hpp"
#include "timeline/trace.hpp"

namespace ullage::attribution {

struct RunEvidence {
  const timeline::Timeline* timeline = nullptr;
  const timeline::Allocations* allocations = nullptr;
  std::span<const PhaseSpan> phases;        ///< in order, covering all events
  std::span<const TensorList> lists;        ///< in order of their marks
  std::span<const std::size_t> cuts;        ///< the place of each mark in the events
  const timeline::Trace* trace = nullptr;   ///< linked; null when operators were not recorded
  std::span<const timeline::CallId> calls;  ///< calls_of(): the innermost call around each allocation; empty without
};

/// Rules, strongest first; the first that holds decides.
/// 1. A tensor that was seen by name owns its storage for the storage's whole life, in the order of TensorClass.
/// 2. Allocated by a file of torch/distributed or torch/nn/parallel: communication.
/// 3. Allocated by a matrix product itself, of the size of cuBLAS's workspace, and never freed: workspaces.
///    So is what an operator of cuDNN allocates itself and gives back before it ends.
/// 4. Born in a forward, outlives it: activations, `saved for backward` when the backward pass frees it, else `held`.
///    Recomputed in a backward and outlives its operator: activations, `recomputed`.
/// 5. Born before a forward and freed after it began: inputs.
/// 6. Born and dead in one phase: temporaries.
/// 7. Born in an optimizer step, never freed, of a parameter's size: optimizer state.
/// Everything else stays unattributed.
Labels label_run(const RunEvidence& evidence);

/// Step 1 alone: gives the allocations that the lists name their label.
void name_tensors(const RunEvidence& evidence, Labels& labels);

}  // namespace ullage::attribution
