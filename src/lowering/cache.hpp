// SPDX-License-Identifier: Apache-2.0
// The keys and values of tokens that a model has seen: transformers' DynamicCache.
#pragma once

#include "lowering/context.hpp"
#include "model/network.hpp"

#include <vector>

namespace ullage::lowering {

class KeyValueCache {
 public:
  explicit KeyValueCache(const model::Network& network);
  /// Joins the new keys and values of a layer, [batch, heads, tokens, width], to those before: the tensors become
  /// those that attention works on. A layer with a window keeps one token less than that.
  void update(Context& context, std::size_t layer, Tensor& keys, Tensor& values);
  /// Tokens seen before this pass, and what a pass of so many adds.
  [[nodiscard]] std::int64_t seen() const { return seen_; }
  void pass(std::int64_t tokens) { seen_ += tokens; }
  /// Keys that a pass of so many tokens attends to.
  [[nodiscard]] std::int64_t keys_of(std::int64_t queries, bool sliding) const;

 private:
  struct Layer {
    Tensor keys, values;
    Tensor window;  ///< the width as a number on the device
    bool slides = false;
  };
  std::vector<Layer> layers_;
  std::int64_t window_ = 0, seen_ = 0;
};

}  // namespace ullage::lowering
