// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing as torch.utils.checkpoint does it without reentrance: saved tensors of a region are dropped,
// and the first that the backward pass asks for has the region run again, up to the last that it needs.
#pragma once

#include "lowering/context.hpp"

#include <functional>
#include <vector>

namespace ullage::lowering {

/// Thrown by keep() when every saved tensor is there again, and caught where the region was started again.
struct EnoughRecomputed {};

/// Runs `region` of one tensor as a checkpointed region.
[[nodiscard]] Tensor checkpointed(Context& context, const Tensor& input,
                                  std::function<Tensor(Context&, const Tensor&)> region);

}  // namespace ullage::lowering
