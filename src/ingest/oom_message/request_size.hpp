// SPDX-License-Identifier: Apache-2.0
// What a failed request is likely to have been: tensors of a model whose size, rounded as the allocator rounds it,
// prints like the request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/oom_message/oom_message.hpp"

namespace ullage::ingest {

/// The dimensions of a language model, as far as its description states them.
struct ModelDimensions {
  std::uint64_t hidden = 0, heads = 0, kv_heads = 0, head = 0, layers = 0, vocabulary = 0, intermediate = 0;
  bool gated = false;  ///< three matrices in the MLP instead of two
  bool tied = true;    ///< the output layer shares the embedding
};

/// Fills in what a description may leave out: key and value heads (as many as heads), the width of a head (hidden /
/// heads), the MLP's width (4 hidden).
void complete(ModelDimensions& model);

struct RequestCandidate {
  std::string what;           ///< "attention scores of one layer"
  std::string formula;        ///< "micro batch 8 x heads 12 x 1024 x 1024 x 4 B"
  std::uint64_t bytes = 0;    ///< of the tensor
  std::uint64_t request = 0;  ///< of the request to the device
};

/// What PyTorch asks the device for, for a tensor: up to 1 MiB a segment of 2 MiB, below 10 MiB one of 20 MiB, else
/// rounded up to 2 MiB (kSmallBuffer, kMinLargeAlloc, kLargeBuffer, kRoundLarge in c10/core/AllocatorConfig.h).
std::uint64_t device_request(std::uint64_t tensor_bytes);

/// Activations need `micro_batch` and `sequence`, weights do not. Dtypes of 1, 2 and 4 bytes. Nothing for a request of
/// 2 or 20 MiB: every tensor of those pools prints like it.
std::vector<RequestCandidate> request_candidates(const PrintedSize& requested, const ModelDimensions& model,
                                                 std::optional<std::uint64_t> micro_batch,
                                                 std::optional<std::uint64_t> sequence);

}  // namespace ullage::ingest
