// SPDX-License-Identifier: Apache-2.0
// Labels of a profiler's trace alone: operators and modules are known, names of tensors are not.
#pragma once

#include <vector>

#include "attribution/facts.hpp"
#include "attribution/labels.hpp"
#include "timeline/trace_allocations.hpp"

namespace ullage::attribution {

/// The phases of a trace: backward from autograd's nodes, optimizer from the ranges `Optimizer.step#...`, forward from
/// the first operator of a graph; `other` between an optimizer step and that. Where the trace records no sequence
/// numbers, forward begins at once. A trace without nodes and optimizer steps is one phase `run`.
std::vector<PhaseSpan> phases_of(const timeline::Trace& trace, const timeline::TraceTimeline& events);

/// Rules; the first that holds decides, everything else stays unattributed.
/// 1. Of the size of cuBLAS's workspace, and never freed: workspaces.
/// 2. Born in an optimizer step: temporaries when freed in it, else optimizer state (by the annotation).
///    Older than the trace and freed in an optimizer step: optimizer state.
/// 3. Born in a node of a backward pass: temporaries when freed in that pass; gradients when alive at the next
/// optimizer
///    step. Born in a module's forward inside it and freed in the pass: activations, recomputed.
/// 4. Born in a forward: temporaries when freed in it, activations when the backward pass after it frees them, or when
/// a
///    request failed before there was one.
/// 5. Copied to the device between an optimizer step and the next forward, and freed after that began: inputs.
Labels label_trace(const timeline::Trace& trace, const timeline::TraceTimeline& events,
                   const timeline::Allocations& allocations, const std::vector<PhaseSpan>& phases);

}  // namespace ullage::attribution
