// SPDX-License-Identifier: Apache-2.0
// AdamW8bit of bitsandbytes (optim/optimizer.py, 0.50): states of a byte with a scale for each block, made parameter by
// parameter in the first step; the update itself takes no memory.
#include "lowering/operators.hpp"
#include "lowering/optimizer.hpp"
#include "setup/optimizer.hpp"

namespace ullage::lowering {
namespace {

/// An update reads gradient and weight and both states, and writes all but the gradient.
constexpr double passes_of_weights = 3, bytes_of_states = 4;

}  // namespace

void Optimizer::make_eight_bit(Context& context, const Tensor& parameter) {
  const auto elements = static_cast<std::uint64_t>(parameter->elements());
  const auto made = [&](std::uint64_t count, DType type, const char* name) {
    note_written(context, "aten::zeros", static_cast<double>(count * bytes_of(type)));
    keep(context, context.make({static_cast<std::int64_t>(count)}, type, program::Role::optimizer_state), name);
  };
  const bool large = setup::applies(setup::Applies::large, 0, elements);
  const DType type = large ? DType::boolean : DType::fp32;  // a byte
  if (large && !has_maps_) {
    const LayerScope scope(context, 0);
    made(setup::entries_once, DType::fp32, "qmap1");
    made(setup::entries_once, DType::fp32, "qmap2");
    has_maps_ = true;
  }
  made(elements, type, "state1");
  made(elements, type, "state2");
  if (!large) return;
  const std::uint64_t blocks = setup::entries(setup::Extent::blocks, {}, elements);
  made(blocks, DType::fp32, "absmax1");
  made(blocks, DType::fp32, "absmax2");
}

void Optimizer::adamw_eight_bit(Context& context) {
  const bool first = states_.empty();
  for (const Tensor& parameter : with_gradient()) {
    const LayerScope scope = scope_of(context, parameter);
    if (first) make_eight_bit(context, parameter);
    program::Operator& op = context.op("bitsandbytes::optimizer_update_8bit_blockwise");
    op.work = program::Work::optimizer;
    op.bytes = passes_of_weights * static_cast<double>(parameter->bytes()) +
               bytes_of_states * static_cast<double>(parameter->elements());
  }
}

}  // namespace ullage::lowering
