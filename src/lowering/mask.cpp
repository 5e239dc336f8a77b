// SPDX-License-Identifier: Apache-2.0
// Masks as transformers' masking_utils makes them.
#include "lowering/operators/cub.hpp"
#include "lowering/run.hpp"

#include <algorithm>

namespace ullage::lowering {
namespace {

// find_packed_sequence_indices: position ids are compared with their successors and numbered, and the answer whether
// there is more than one sequence in a row is read.
void look_for_packed_sequences(const Run& run) {
  Context& c = run.context;
  const std::int64_t batch = run.batch(), length = run.queries();
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

/// A flag for each query and key.
Tensor compared(Context& c, const char* name, const Extents& sizes) {
  note_written(c, name, static_cast<double>(sizes.product()));
  return c.make(sizes, DType::boolean);
}

/// and_masks: one pattern after the other joined to a flag that is set.
template <class... Patterns>
Tensor all_of(Context& c, const Patterns&... patterns) {
  Tensor result = c.make({}, DType::boolean);
  const auto join = [&](const auto& make) {
    const Tensor pattern = make();
    result = pointwise(c, "aten::bitwise_and", {&result, &pattern}, DType::boolean);
  };
  (join(patterns), ...);
  return result;
}

Tensor causal_pattern(Context& c, const Extents& sizes, bool sliding) {
  const auto before = [&] { return compared(c, "aten::le", sizes); };
  if (!sliding) return before();
  const auto near = [&] {
    const Tensor begins = c.make({1, 1, sizes[2], 1}, DType::int64);
    return compared(c, "aten::gt", sizes);
  };
  return all_of(c, near, before);
}

// padding_mask[batch_idx, kv_idx]: indices are copied where they are not of the same strides
Tensor padding_pattern(Context& c, std::int64_t batch, std::int64_t keys) {
  const Extents sizes{batch, 1, 1, keys};
  note_written(c, "aten::index", 18.0 * static_cast<double>(batch * keys));
  const Tensor rows = c.make(sizes, DType::int64);
  const Tensor columns = batch > 1 ? c.make(sizes, DType::int64) : Tensor();
  return c.make(sizes, DType::boolean);
}

/// The mask that sdpa_mask makes, of bool.
Tensor boolean_mask(const Run& run, const Extents& sizes, bool sliding) {
  Context& c = run.context;
  const auto range = [&](std::int64_t count) {
    note_written(c, "aten::arange", 8.0 * static_cast<double>(count));
    return c.make({count}, DType::int64);
  };
  const Tensor batches = range(run.batch()), heads = range(1);
  Tensor queries = range(sizes[2]);
  queries = pointwise(c, "aten::add", {&queries}, DType::int64);
  Tensor keys = range(sizes[3]);
  keys = pointwise(c, "aten::add", {&keys}, DType::int64);
  const auto causal = [&] { return causal_pattern(c, {1, 1, sizes[2], sizes[3]}, sliding); };
  if (!run.attention) return causal();
  return all_of(c, causal, [&] { return padding_pattern(c, sizes[0], sizes[3]); });
}

// fast_all, asked so often before the answer is no
void look_for_padding(Context& c, const Tensor& flags, int times) {
  for (int asked = 0; asked < times; ++asked) {
    const Tensor count = count_raw(c, flags);
    const Tensor answer = pointwise(c, "aten::eq", {&count}, DType::boolean);
  }
}

/// Whether is_causal says as much as the mask would (_ignore_causal_mask_sdpa).
bool needs_none(const Run& run, const Tensor& padding, bool sliding) {
  if (sliding && run.keys(true) >= static_cast<std::int64_t>(*run.network.sliding_window)) return false;
  const bool behind_others = run.cache != nullptr && run.cache->seen() > 0;
  if (padding) look_for_padding(run.context, padding, behind_others ? 1 : 2);
  return !padding;
}

}  // namespace

Tensor causal_mask(const Run& run, DType type, bool knows_positions, bool sliding) {
  Context& c = run.context;
  const Tensor padding = run.attention ? cast(c, run.attention, DType::boolean) : Tensor();
  if (knows_positions && !padding && run.cache == nullptr) look_for_packed_sequences(run);
  const bool eager = run.setup.attention == Attention::eager;
  if (!eager && needs_none(run, padding, sliding)) return {};
  const Extents sizes{run.batch(), 1, run.queries(), run.keys(sliding)};
  const Tensor allowed = boolean_mask(run, sizes, sliding);
  if (!eager) return expand(c, allowed, sizes);
  note_written(c, "aten::where", static_cast<double>(sizes.product()) * static_cast<double>(bytes_of(type))).launches =
      3;
  const Tensor zero = c.make({}, type), least = c.make({}, type);
  return c.make(sizes, type);
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
