// SPDX-License-Identifier: Apache-2.0
#include "lowering/fold.hpp"

#include <algorithm>
#include <vector>

namespace ullage::lowering {
namespace {

/// Where the parameters of the layers are in the order of all parameters.
struct LayerParameters {
  std::size_t first = 0, each = 0;
};

LayerParameters layer_parameters(const model::Model& model) {
  LayerParameters found;
  for (const model::Group& group : model.groups) {
    found.each = group.parameters.size();
    if (group.layers) return found;
    found.first += group.parameters.size();
  }
  return found;
}

/// What sets a layer apart from others of its model.
class Kinds {
 public:
  Kinds(const model::Model& model, const Setup& setup)
      : slides_(model.network.slides), setup_(setup), place_(layer_parameters(model)) {}
  [[nodiscard]] bool same(std::size_t one, std::size_t other) const {
    if (!slides_.empty() && slides_[one] != slides_[other]) return false;
    if (is_region(one) != is_region(other)) return false;
    for (std::size_t i = 0; i < place_.each && !setup_.frozen.empty(); ++i)
      if (setup_.frozen[parameter(one) + i] != setup_.frozen[parameter(other) + i]) return false;
    return true;
  }
  /// The first parameter of a layer.
  [[nodiscard]] std::size_t parameter(std::size_t layer) const { return place_.first + layer * place_.each; }

 private:
  [[nodiscard]] bool is_region(std::size_t layer) const {
    return setup_.checkpoint_every > 0 && layer % setup_.checkpoint_every == 0;
  }
  const std::vector<bool>& slides_;
  const Setup& setup_;
  LayerParameters place_;
};

/// After how many layers those between the first and the last repeat; 0 for not soon.
std::size_t period_of(const Kinds& kinds, std::size_t layers) {
  constexpr std::size_t longest = 8;
  for (std::size_t period = 1; period <= longest; ++period) {
    bool repeats = true;
    for (std::size_t i = 1; i + period + 1 < layers && repeats; ++i) repeats = kinds.same(i, i + period);
    if (repeats) return period;
  }
  return 0;
}

void drop(std::vector<bool>& flags, std::size_t begin, std::size_t end) {
  if (flags.empty()) return;
  flags.erase(flags.begin() + static_cast<std::ptrdiff_t>(begin), flags.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace

std::optional<Shallow> shallower(const model::Model& model, const Setup& setup) {
  const std::size_t layers = model.network.layers;
  if (layers < 5) return std::nullopt;
  const Kinds kinds(model, setup);
  const std::size_t period = period_of(kinds, layers);
  if (period == 0) return std::nullopt;
  // a whole period before and after: each kind of layer does there what is done once, as to take a workspace
  const std::size_t left = 4 * period + layers % period;
  if (left >= layers) return std::nullopt;
  // layers from here on are left out
  const std::size_t from = 2 * period, dropped = layers - left;
  Shallow shallow{model,
                  setup,
                  {static_cast<std::uint32_t>(period + 1), static_cast<std::uint32_t>(period),
                   static_cast<std::uint32_t>(dropped / period)}};
  shallow.model.network.layers = left;
  for (model::Group& group : shallow.model.groups)
    if (group.layers) group.repeat = left;
  drop(shallow.model.network.slides, from, from + dropped);
  drop(shallow.setup.frozen, kinds.parameter(from), kinds.parameter(from + dropped));
  return shallow;
}

}  // namespace ullage::lowering
