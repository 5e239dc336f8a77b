// SPDX-License-Identifier: Apache-2.0
// What communication between ranks holds on the device: told, not planned.
#pragma once

#include "model/description.hpp"
#include "planner/states.hpp"

#include <optional>

namespace ullage::planner {

/// The buffers through which the ranks of a training exchange gradients and parameters, with their size as the
/// framework's documentation has it, and when they appear; they are in no sum. `trained` are elements. Nothing for one
/// rank, and where nothing is trained.
/// Sources: DistributedDataParallel (gradient_as_bucket_view), FSDP, ZeRO's defaults of DeepSpeed, Megatron Core's
/// distributed optimizer.
[[nodiscard]] std::optional<Formula> buckets_of(const model::Model& model, const Training& training,
                                                std::uint64_t trained);

}  // namespace ullage::planner
