// SPDX-License-Identifier: Apache-2.0
// Masks of tokens without padding, as transformers' masking_utils makes them.
#include "lowering/operators/cub.hpp"
#include "lowering/run.hpp"

#include <algorithm>

namespace ullage::lowering {
namespace {

// find_packed_sequence_indices: position ids are compared with their successors and numbered, and the answer whether
// there is more than one sequence in a row is read.
void look_for_packed_sequences(const Run& run) {
  Context& c = run.context;
  const std::int64_t batch = run.setup.micro_batch, length = run.setup.sequence;
  const auto numbers = [&](const char* name, std::int64_t columns, DType type) {
    note_written(c, name, 2.0 * static_cast<double>(batch * columns) * static_cast<double>(bytes_of(type)));
    return c.make({batch, columns}, type);
  };
  const Tensor first = numbers("aten::sub", 1, DType::int64);
  Tensor steps;
  {
    const Tensor extended = numbers("aten::cat", length + 1, DType::int64);
    steps = numbers("aten::sub", length, DType::int64);
  }
  Tensor sequences;
  {
    const Tensor begins = numbers("aten::ne", length, DType::boolean);
    note_written(c, "aten::cumsum", 16.0 * static_cast<double>(batch * length));
    sequences = c.make({batch, length}, DType::int64);
    const Tensor wide = numbers("aten::_to_copy", length, DType::int64);
    const Tensor scan = c.scratch(batch == 1 ? scan_bytes(length) : 0);  // rows are scanned by another kernel
  }
  const Tensor single = numbers("aten::eq", 1, DType::boolean);
  note_written(c, "aten::all", static_cast<double>(batch));
  const Tensor answer = c.make({}, DType::boolean);
}

/// and_masks of a window and causality: [1, 1, tokens, tokens].
Tensor sliding_pattern(Context& c, const Extents& sizes, std::int64_t length) {
  Tensor result = c.make({}, DType::boolean);
  const auto join = [&](Tensor pattern) {
    result = pointwise(c, "aten::bitwise_and", {&result, &pattern}, DType::boolean);
  };
  {
    Tensor begins = c.make({1, 1, length, 1}, DType::int64);
    note_written(c, "aten::gt", static_cast<double>(sizes.product()));
    Tensor near = c.make(sizes, DType::boolean);
    begins = Tensor();
    join(std::move(near));
  }
  note_written(c, "aten::le", static_cast<double>(sizes.product()));
  join(c.make(sizes, DType::boolean));
  return result;
}

Tensor boolean_mask(const Run& run, bool sliding) {
  Context& c = run.context;
  const std::int64_t length = run.setup.sequence;
  const auto range = [&](std::int64_t count) {
    note_written(c, "aten::arange", 8.0 * static_cast<double>(count));
    return c.make({count}, DType::int64);
  };
  const Tensor batches = range(run.setup.micro_batch), heads = range(1);
  Tensor queries = range(length);
  queries = pointwise(c, "aten::add", {&queries}, DType::int64);
  Tensor keys = range(length);
  keys = pointwise(c, "aten::add", {&keys}, DType::int64);
  const Extents sizes{1, 1, length, length};
  note_written(c, "aten::le", static_cast<double>(sizes.product()));
  return sliding ? sliding_pattern(c, sizes, length) : c.make(sizes, DType::boolean);
}

}  // namespace

Tensor causal_mask(const Run& run, DType type, bool knows_positions, bool sliding) {
  if (knows_positions) look_for_packed_sequences(run);
  Context& c = run.context;
  const std::int64_t batch = run.setup.micro_batch, length = run.setup.sequence;
  const bool eager = run.setup.attention == Attention::eager;
  const bool inside = !sliding || length < static_cast<std::int64_t>(*run.network.sliding_window);
  if (!eager && inside) return {};
  const Tensor allowed = boolean_mask(run, sliding);
  if (!eager) return expand(c, allowed, {batch, 1, length, length});
  note_written(c, "aten::where", static_cast<double>(batch * length * length) * static_cast<double>(bytes_of(type)))
      .launches = 3;
  const Tensor zero = c.make({}, type), least = c.make({}, type);
  return c.make({batch, 1, length, length}, type);
}

Shared shared_inputs(const Run& run, DType type) {
  const model::Network& network = run.network;
  Shared shared;
  shared.positions = position_ids(run);
  const bool by_layer = !network.slides.empty();  // a mask of each kind
  if (by_layer || !network.sliding_window) shared.mask = causal_mask(run, type, true, false);
  const bool any = std::ranges::find(network.slides, true) != network.slides.end();
  if (network.sliding_window && (any || !by_layer)) shared.sliding_mask = causal_mask(run, type, true, true);
  shared.rotary = rotary_embedding(run, type);
  return shared;
}

}  // namespace ullage::lowering
