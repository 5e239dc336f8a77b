// SPDX-License-Identifier: Apache-2.0
#include "program/folded.hpp"

#include "program/ordinals.hpp"

namespace ullage::program {

std::vector<std::uint32_t> ordinals(const std::vector<LayerNumber>& layers) {
  std::vector<std::uint32_t> next, found;
  found.reserve(layers.size());
  for (const LayerNumber layer : layers) {
    if (layer >= next.size()) next.resize(layer + 1);
    found.push_back(next[layer]++);
  }
  return found;
}

std::optional<Passage> passage_from(const Folded& folded, std::size_t stretch) {
  const Fold& fold = folded.fold;
  const auto layer_at = [&](std::size_t i) { return folded.stretches[i].layer; };
  if (!fold.covers(layer_at(stretch))) return std::nullopt;
  Passage passage{stretch, stretch, stretch, fold.repeats(layer_at(stretch))};
  const auto count = folded.stretches.size();
  while (passage.middle < count && fold.covers(layer_at(passage.middle)) &&
         fold.repeats(layer_at(passage.middle)) == passage.up)
    ++passage.middle;
  for (passage.end = passage.middle;
       passage.end < count && fold.covers(layer_at(passage.end)) && fold.repeats(layer_at(passage.end)) != passage.up;)
    ++passage.end;
  const bool even = passage.middle - passage.first == passage.end - passage.middle;
  const bool ends = passage.end == count || !fold.covers(layer_at(passage.end));
  return even && ends ? std::optional(passage) : std::nullopt;
}

}  // namespace ullage::program
