// SPDX-License-Identifier: Apache-2.0
#include "planner/buckets.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::planner {
namespace {

using setup::Framework;

std::string product(std::uint64_t bytes, std::uint64_t count) {
  return fmt::format("{} B x {} = {}", bytes, grouped(count), format_bytes(bytes * count));
}

std::uint64_t largest_layer(const model::Model& model) {
  std::uint64_t most = 0;
  for (const model::Group& group : model.groups) most = std::max(most, model::parameter_count(group) / group.repeat);
  return most;
}

Formula data_parallel(const Training& training, std::uint64_t trained) {
  return {"buckets", product(training.precision->gradients, trained) + ", none with gradient_as_bucket_view=True",
          "DDP is made; anew after the first backward pass"};
}

Formula fully_sharded(const model::Model& model, const Training& training) {
  return {"buckets",
          "the largest unit whole, and another ahead of it: twice " +
              product(training.precision->weights, largest_layer(model)),
          "first forward pass"};
}

/// reduce_bucket_size and allgather_bucket_size are numbers of elements.
Formula deepspeed(const Training& training, std::uint64_t trained) {
  constexpr std::uint64_t default_elements = 500'000'000;
  return {"buckets",
          "reduce_bucket_size " + product(training.precision->weights, std::min(default_elements, trained)) +
              "; as much for allgather_bucket_size",
          "first backward pass; first optimizer step"};
}

Formula form(const model::Model& model, const Training& training, std::uint64_t trained) {
  switch (training.precision->framework) {
    case Framework::megatron:
      return {"buckets", "none beside the gradients: their one buffer is cut into buckets", "load"};
    case Framework::deepspeed:
      return deepspeed(training, trained);
    case Framework::pytorch:
      break;
  }
  return training.zero >= 2 ? fully_sharded(model, training) : data_parallel(training, trained);
}

}  // namespace

std::optional<Formula> buckets_of(const model::Model& model, const Training& training, std::uint64_t trained) {
  if (training.ranks <= 1 || training.optimizer == nullptr || trained == 0) return std::nullopt;
  Formula formula = form(model, training, trained);
  formula.text = "not in the sum: " + formula.text;
  return formula;
}

}  // namespace ullage::planner
