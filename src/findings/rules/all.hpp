// SPDX-License-Identifier: Apache-2.0
// The rules; each is defined in the file of its name.
#pragma once

#include "findings/rule.hpp"

namespace ullage::findings {

extern const Rule growth;
extern const Rule graph_kept;
extern const Rule unused_graph;
extern const Rule inference_without_no_grad;
extern const Rule zero_grad_missing;
extern const Rule workers_memory;
extern const Rule fragmentation;
extern const Rule no_hole;
extern const Rule headroom;
extern const Rule optimizer_peak;
extern const Rule attention_scores;
extern const Rule full_logits;
extern const Rule weight_copies;
extern const Rule gradient_copies;
extern const Rule gradients_kept;
extern const Rule outputs_kept;
extern const Rule frozen_activations;
extern const Rule avoidable_copies;
extern const Rule outside_pytorch;
extern const Rule load_peak;
extern const Rule peak_between_steps;
extern const Rule padding;
extern const Rule synchronisation;
extern const Rule transfer;
extern const Rule pageable_copies;
extern const Rule data_wait;
extern const Rule rank_imbalance;

}  // namespace ullage::findings
