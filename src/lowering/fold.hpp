// SPDX-License-Identifier: Apache-2.0
// Which layers of a model are alike, and a model of few layers whose step program can be unfolded to that of all.
#pragma once

#include "lowering/lower.hpp"

#include <optional>

namespace ullage::lowering {

/// A model with fewer layers, and what they stand for.
struct Shallow {
  model::Model model;
  Setup setup;
  program::Fold fold;
};

/// The first layer, two periods of the layers after it, and at least one more to the end; nothing where the model has
/// no more layers than that, or layers that do not repeat: some slide, are checkpointed or frozen, and others not.
[[nodiscard]] std::optional<Shallow> shallower(const model::Model& model, const Setup& setup);

}  // namespace ullage::lowering
