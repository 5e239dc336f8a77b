// SPDX-License-Identifier: Apache-2.0
// From one period of layers to all of them.
#include "program/folded.hpp"
#include "program/ordinals.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace ullage::program {
namespace {

/// Where things of each layer of the whole program are, by their number within the layer.
class Places {
 public:
  /// `layers`: of the things of the folded program.
  Places(const std::vector<LayerNumber>& layers, const Fold& fold) : layers_(layers), ordinals_(ordinals(layers)) {
    std::vector<std::uint32_t> counts;
    for (const LayerNumber layer : layers) {
      if (layer >= counts.size()) counts.resize(layer + 1);
      ++counts[layer];
    }
    std::size_t next = 0;
    const std::uint32_t added = fold.more * fold.period;
    for (LayerNumber layer = 0; layer < counts.size() + added; ++layer) {
      bases_.push_back(next);
      next += counts[folded_layer(layer, fold)];
    }
    ids_.resize(next);
  }
  /// Of a thing of the folded program, in a stretch that is done so many layers further on.
  std::uint32_t& operator()(std::uint32_t id, std::uint32_t further) {
    const LayerNumber layer = layers_[id];
    return ids_[bases_[layer == 0 ? 0 : layer + further] + ordinals_[id]];
  }

 private:
  /// The layer of the folded program that is a layer of the whole one.
  static LayerNumber folded_layer(LayerNumber layer, const Fold& fold) {
    const std::uint32_t added = fold.more * fold.period;
    if (layer < fold.first + fold.period) return layer;
    if (layer >= fold.first + fold.period + added) return layer - added;
    return fold.first + (layer - fold.first) % fold.period;
  }
  const std::vector<LayerNumber>& layers_;
  std::vector<std::uint32_t> ordinals_;
  std::vector<std::size_t> bases_;  ///< by layer of the whole program
  std::vector<std::uint32_t> ids_;
};

class Unfolding {
 public:
  explicit Unfolding(const Folded& folded)
      : folded_(folded),
        from_(folded.program),
        fold_(folded.fold),
        tensors_(folded.tensor_layers, fold_),
        modules_(folded.module_layers, fold_) {}

  Program run() {
    reserve();
    add_modules();
    for (std::size_t i = 0; i < folded_.stretches.size(); ++i) {
      add_marks(folded_.stretches[i]);
      const auto passage = fold_.more > 0 ? passage_from(folded_, i) : std::nullopt;
      if (!passage) {
        const LayerNumber layer = folded_.stretches[i].layer;
        add(i, layer < fold_.first + fold_.period ? 0 : added());
        continue;
      }
      add(*passage);
      i = passage->end - 1;
    }
    add_marks({from_.events.size(), from_.operators.size(), 0});
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::uint32_t added() const { return fold_.more * fold_.period; }

  /// About what it takes, with the steps that are repeated later.
  void reserve() {
    const std::uint32_t steps = from_.marks.empty() ? 0 : from_.marks.back().step;
    const std::size_t layers = fold_.first + 2 * fold_.period;
    const auto whole = [&](std::size_t count) {
      const std::size_t all = count + count * added() / layers;
      return steps == 0 ? all : all * (steps + folded_.repeated_steps) / steps;
    };
    made_.events.reserve(whole(from_.events.size()));
    made_.tensors.reserve(whole(from_.tensors.size()));
    made_.operators.reserve(whole(from_.operators.size()));
  }
  void add(const Passage& passage) {
    const auto half = [&](std::size_t begin, std::size_t end, std::uint32_t further) {
      for (std::size_t i = begin; i < end; ++i) add(i, further);
    };
    if (!passage.up) half(passage.first, passage.middle, added());
    for (std::uint32_t copy = 0; copy <= fold_.more; ++copy) {
      const std::uint32_t further = (passage.up ? copy : fold_.more - copy) * fold_.period;
      passage.up ? half(passage.first, passage.middle, further) : half(passage.middle, passage.end, further);
    }
    if (passage.up) half(passage.middle, passage.end, added());
  }
  /// One stretch, of a layer so many further on than the one it stands for.
  void add(std::size_t stretch, std::uint32_t further) {
    const Stretch begin = folded_.stretches[stretch], end = folded_.end_of(stretch);
    const std::size_t first = made_.operators.size();
    for (std::size_t i = begin.first_operator; i < end.first_operator; ++i) {
      made_.operators.push_back(from_.operators[i]);
      made_.operators.back().module = modules_(from_.operators[i].module, further);
    }
    for (std::size_t i = begin.event; i < end.event; ++i) {
      const TensorId id = tensor_of(from_.events[i]);
      TensorId& place = tensors_(id, further);
      if (!is_request(from_.events[i])) {
        made_.events.push_back(~static_cast<Event>(place));
        continue;
      }
      place = static_cast<TensorId>(made_.tensors.size());
      made_.events.push_back(static_cast<Event>(place));
      Tensor tensor = from_.tensors[id];
      // asked for by an operator of this stretch, or by the last one before it
      tensor.by = static_cast<OperatorId>(tensor.by >= begin.first_operator ? first + (tensor.by - begin.first_operator)
                                                                            : first - 1);
      made_.tensors.push_back(tensor);
    }
  }
  /// Marks that stand before a stretch.
  void add_marks(const Stretch& before) {
    for (; marks_ < from_.marks.size() && from_.marks[marks_].event <= before.event &&
           from_.marks[marks_].first_operator <= before.first_operator;
         ++marks_) {
      Mark mark = from_.marks[marks_];
      mark.event = made_.events.size(), mark.first_operator = made_.operators.size();
      made_.marks.push_back(mark);
    }
  }
  void add_modules() {
    made_.modules.clear();
    bool copied = false;
    for (ModuleId id = 0; id < from_.modules.size(); ++id) {
      const LayerNumber layer = folded_.module_layers[id];
      if (fold_.more == 0 || !fold_.repeats(layer)) {
        add_module(id, layer < fold_.first + fold_.period ? 0 : added());
        continue;
      }
      if (std::exchange(copied, true)) continue;
      for (std::uint32_t copy = 0; copy <= fold_.more; ++copy)
        for (ModuleId one = id; one < from_.modules.size(); ++one)
          if (fold_.repeats(folded_.module_layers[one])) add_module(one, copy * fold_.period);
    }
  }
  void add_module(ModuleId id, std::uint32_t further) {
    Module module = from_.modules[id];
    const LayerNumber layer = folded_.module_layers[id];
    if (layer != 0 && folded_.module_layers[module.parent] == 0) module.name = std::to_string(layer + further - 1);
    module.parent = modules_(module.parent, further);
    modules_(id, further) = static_cast<ModuleId>(made_.modules.size());
    made_.modules.push_back(std::move(module));
  }

  const Folded& folded_;
  const Program& from_;
  Fold fold_;
  Places tensors_, modules_;
  std::size_t marks_ = 0;
  Program made_;
};

}  // namespace

Program unfold(const Folded& folded) {
  return Unfolding(folded).run();
}

}  // namespace ullage::program
