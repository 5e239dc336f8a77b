// SPDX-License-Identifier: Apache-2.0
// A step program in which one period of identical layers stands for many: what a deep model does, in the space of a
// shallow one.
#pragma once

#include "program/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ullage::program {

/// A layer's number from 1 on; 0 for what belongs to none.
using LayerNumber = std::uint32_t;

/// From here on, until the next stretch, events and operators are of one layer.
struct Stretch {
  std::size_t event = 0;
  std::size_t first_operator = 0;
  LayerNumber layer = 0;
};

/// Layers `first` to `first + period - 1` stand for themselves and `more` further periods that follow them. The program
/// holds one period after those too, as the proof: folds() compares the two.
struct Fold {
  LayerNumber first = 0;
  std::uint32_t period = 0;
  std::uint32_t more = 0;  ///< 0: nothing is folded

  /// Whether a layer is one of the period that stands for many.
  [[nodiscard]] bool repeats(LayerNumber layer) const { return layer >= first && layer < first + period; }
  /// Whether it is one of those or of the period after them.
  [[nodiscard]] bool covers(LayerNumber layer) const { return layer >= first && layer < first + 2 * period; }
};

struct Folded {
  Program program;
  std::vector<Stretch> stretches;             ///< each ends where the next begins; marks stand at their beginnings
  std::vector<LayerNumber> tensor_layers;     ///< by tensor: which layer asked for it
  std::vector<LayerNumber> module_layers{0};  ///< by module
  Fold fold;
  std::uint32_t repeated_steps = 0;  ///< so often the last step of the program is done again (repeat_step)

  /// Where a stretch ends.
  [[nodiscard]] Stretch end_of(std::size_t stretch) const {
    return stretch + 1 < stretches.size() ? stretches[stretch + 1]
                                          : Stretch{program.events.size(), program.operators.size(), 0};
  }
};

/// Stretches that go through the layers that repeat and the period after them: up, or down from the last to the first.
struct Passage {
  std::size_t first = 0, middle = 0, end = 0;  ///< [first, middle) of one period, [middle, end) of the other
  bool up = true;
};

/// The passage that begins at a stretch; nothing for a stretch of other layers, or of none.
[[nodiscard]] std::optional<Passage> passage_from(const Folded& folded, std::size_t stretch);

/// Whether the fold holds: in every passage both periods do the same with the same tensors, their own or those of
/// layers at most a period away.
[[nodiscard]] bool folds(const Folded& folded);

/// The program of all layers, without the repeated steps. folds() must be true. Tensors of 0 bytes are left out.
[[nodiscard]] Program unfold(const Folded& folded);

}  // namespace ullage::program
