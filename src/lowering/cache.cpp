// SPDX-License-Identifier: Apache-2.0
#include "lowering/cache.hpp"

#include "lowering/operators.hpp"

#include <algorithm>

namespace ullage::lowering {
namespace {

Tensor joined(Context& context, const Tensor& before, const Tensor& added) {
  Tensor whole = before ? cat(context, {before, added}, 2) : cat(context, {added}, 2);
  context.tape.is(whole->storage->id, program::Role::activation);
  context.tape.program().tensors[whole->storage->id].kind = "keys and values of the cache";
  return whole;
}

}  // namespace

KeyValueCache::KeyValueCache(const model::Network& network) : layers_(network.layers) {
  if (!network.sliding_window) return;
  window_ = static_cast<std::int64_t>(*network.sliding_window);
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].slides = network.slides.empty() || network.slides[i];
}

void KeyValueCache::update(Context& context, std::size_t layer, Tensor& keys, Tensor& values) {
  Layer& kept = layers_[layer];
  if (!kept.slides) {
    kept.keys = joined(context, kept.keys, keys);
    kept.values = joined(context, kept.values, values);
    keys = kept.keys, values = kept.values;
    return;
  }
  if (!kept.window) {
    context.op("aten::_to_copy");
    kept.window = context.make({}, DType::int64);
  }
  const Tensor all_keys = joined(context, kept.keys, keys), all_values = joined(context, kept.values, values);
  const std::int64_t tokens = std::min(all_keys->sizes[2], window_ - 1);
  kept.keys = rest_of(context, all_keys, 2, tokens);
  kept.values = rest_of(context, all_values, 2, tokens);
  keys = all_keys, values = all_values;
}

std::int64_t KeyValueCache::keys_of(std::int64_t queries, bool sliding) const {
  return (sliding ? std::min(seen_, window_ - 1) : seen_) + queries;
}

}  // namespace ullage::lowering
