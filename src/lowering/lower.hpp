// SPDX-License-Identifier: Apache-2.0
// From a model and a training setup to the step program: the requests and operators of load and of the first steps of a
// plain PyTorch loop (bench/accuracy/reference_loop.py), in the order of the pinned reference stack.
#pragma once

#include "base/result.hpp"
#include "hardware/catalogue.hpp"
#include "lowering/context.hpp"
#include "model/description.hpp"
#include "program/folded.hpp"

#include <cstdint>
#include <vector>

namespace ullage::lowering {

/// `flash`: SDPA held to FlashAttention by torch.nn.attention.sdpa_kernel.
enum class Attention : std::uint8_t { eager, sdpa, flash };
enum class OptimizerKind : std::uint8_t { adamw, adamw_fused, adamw_forloop, sgd, adafactor, adamw_8bit };

/// A training of one device, or inference.
struct Setup {
  bool train = true;  ///< else forward passes without gradients in eval mode, up to the logits
  std::int64_t micro_batch = 1, sequence = 1024;  ///< sequences, tokens of each
  DType weights = DType::fp32;
  bool autocast = false;
  DType autocast_type = DType::bf16;
  bool tf32 = false;
  bool padding = false;  ///< the batch has a mask with padding, and labels of its own
  Attention attention = Attention::sdpa;
  std::uint64_t checkpoint_every = 0;  ///< each so-many-th layer, from the first, is a region; 0 for none
  std::uint64_t accumulate = 1;        ///< micro batches before an optimizer step
  bool keep_gradients = false;         ///< zero_grad(set_to_none=False)
  OptimizerKind optimizer = OptimizerKind::adamw;
  std::vector<bool> frozen;  ///< by parameter, as planner::frozen_parameters; empty for none
  unsigned steps = 3;
  /// With inference: a prefill of the sequence, then token by token until the cache holds so many; 0 for no cache.
  std::int64_t cache = 0;
};

/// What kernels ask a GPU of the catalogue for.
[[nodiscard]] DeviceFacts facts_of(const Gpu& gpu);

/// The shortest sequence before the cache of a setup: more single tokens are refused. 1 without a cache.
[[nodiscard]] std::uint64_t shortest_prefill(const model::Network& network, const Setup& setup);

/// As lower(), with every layer run through, whether or not it is like others.
[[nodiscard]] Result<program::Folded> lower_every_layer(const model::Model& model, const Setup& setup,
                                                        const DeviceFacts& device);

/// As lower(), with identical layers once where the model has enough of them.
[[nodiscard]] Result<program::Folded> lower_folded(const model::Model& model, const Setup& setup,
                                                   const DeviceFacts& device, DeviceAnswers* answers = nullptr);

/// `answers` is what the device was asked on the way. Errors: `usage` for what no rule describes, naming it.
[[nodiscard]] Result<program::Program> lower(const model::Model& model, const Setup& setup, const DeviceFacts& device,
                                             DeviceAnswers* answers = nullptr);

}  // namespace ullage::lowering
