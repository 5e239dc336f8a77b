// SPDX-License-Identifier: Apache-2.0
#include "program/folded.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace ullage::program {
namespace {

/// Numbers of tensors or modules within their layers.
std::vector<std::uint32_t> ordinals(const std::vector<LayerNumber>& layers) {
  std::vector<std::uint32_t> next, found;
  found.reserve(layers.size());
  for (const LayerNumber layer : layers) {
    if (layer >= next.size()) next.resize(layer + 1);
    found.push_back(next[layer]++);
  }
  return found;
}

/// Compares the period that stands for many with the one after it.
class Proof {
 public:
  explicit Proof(const Folded& folded)
      : folded_(folded),
        program_(folded.program),
        period_(folded.fold.period),
        tensors_(ordinals(folded.tensor_layers)),
        modules_(ordinals(folded.module_layers)) {}

  [[nodiscard]] bool holds() const { return stays_near() && same_modules() && same_passages(); }

 private:
  [[nodiscard]] bool stays_near() const {
    for (std::size_t i = 0; i < folded_.stretches.size(); ++i) {
      const LayerNumber layer = folded_.stretches[i].layer;
      if (layer == 0) continue;
      const std::size_t end = folded_.end_of(i).event;
      for (std::size_t event = folded_.stretches[i].event; event < end; ++event) {
        const LayerNumber other = folded_.tensor_layers[tensor_of(program_.events[event])];
        if (other != 0 && (other > layer ? other - layer : layer - other) > period_) return false;
      }
    }
    return true;
  }
  /// The names below each layer, in the order in which they were met.
  [[nodiscard]] bool same_modules() const {
    std::vector<ModuleId> one, other;
    for (ModuleId id = 0; id < folded_.module_layers.size(); ++id)
      if (const LayerNumber layer = folded_.module_layers[id]; folded_.fold.covers(layer))
        (folded_.fold.repeats(layer) ? one : other).push_back(id);
    return std::ranges::equal(one, other, [&](ModuleId a, ModuleId b) {
      const bool is_layer = folded_.module_layers[program_.modules[a].parent] == 0;
      return same_place(folded_.module_layers[a], folded_.module_layers[b]) &&
             (is_layer || program_.modules[a].name == program_.modules[b].name) &&
             same_module(program_.modules[a].parent, program_.modules[b].parent);
    });
  }
  [[nodiscard]] bool same_passages() const {
    for (std::size_t i = 0; i < folded_.stretches.size(); ++i) {
      if (!folded_.fold.covers(folded_.stretches[i].layer)) continue;
      const auto passage = passage_from(folded_, i);
      if (!passage || !same_halves(*passage)) return false;
      i = passage->end - 1;
    }
    return true;
  }
  [[nodiscard]] bool same_halves(const Passage& passage) const {
    const std::size_t length = passage.middle - passage.first;
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t left = passage.first + i, right = passage.middle + i;
      if (!same_stretch(passage.up ? left : right, passage.up ? right : left)) return false;
    }
    return !has_mark_within(passage);
  }
  [[nodiscard]] bool has_mark_within(const Passage& passage) const {
    const Stretch begin = folded_.stretches[passage.first], end = folded_.end_of(passage.end - 1);
    return std::ranges::any_of(program_.marks, [&](const Mark& mark) {
      return (mark.event > begin.event || mark.first_operator > begin.first_operator) &&
             (mark.event < end.event || mark.first_operator < end.first_operator);
    });
  }
  /// `one` of the period that stands for many, `other` of the next.
  [[nodiscard]] bool same_stretch(std::size_t one, std::size_t other) const {
    const Stretch &a = folded_.stretches[one], &b = folded_.stretches[other];
    const Stretch a_end = folded_.end_of(one), b_end = folded_.end_of(other);
    if (a.layer + period_ != b.layer || a_end.event - a.event != b_end.event - b.event ||
        a_end.first_operator - a.first_operator != b_end.first_operator - b.first_operator)
      return false;
    for (std::size_t i = 0; i < a_end.first_operator - a.first_operator; ++i)
      if (!same_operator(program_.operators[a.first_operator + i], program_.operators[b.first_operator + i]))
        return false;
    for (std::size_t i = 0; i < a_end.event - a.event; ++i)
      if (!same_event(program_.events[a.event + i], program_.events[b.event + i], a, b)) return false;
    return true;
  }
  [[nodiscard]] bool same_operator(const Operator& one, const Operator& other) const {
    const auto fields = [](const Operator& op) {
      return std::tie(op.name, op.work, op.recomputed, op.bits, op.tensor_cores, op.causal, op.launches, op.flops,
                      op.bytes, op.m, op.n, op.k, op.batch);
    };
    return fields(one) == fields(other) && same_module(one.module, other.module);
  }
  [[nodiscard]] bool same_event(Event one, Event other, const Stretch& a, const Stretch& b) const {
    const TensorId left = tensor_of(one), right = tensor_of(other);
    if (is_request(one) != is_request(other) || tensors_[left] != tensors_[right] ||
        !same_place(folded_.tensor_layers[left], folded_.tensor_layers[right]))
      return false;
    return !is_request(one) || same_tensor(program_.tensors[left], program_.tensors[right], a, b);
  }
  static bool same_tensor(const Tensor& one, const Tensor& other, const Stretch& a, const Stretch& b) {
    const auto asked_by = [](const Tensor& tensor, const Stretch& stretch) {
      return static_cast<std::int64_t>(tensor.by) - static_cast<std::int64_t>(stretch.first_operator);
    };
    return one.bytes == other.bytes && one.role == other.role && one.kind == other.kind &&
           std::max<std::int64_t>(asked_by(one, a), -1) == std::max<std::int64_t>(asked_by(other, b), -1);
  }
  [[nodiscard]] bool same_module(ModuleId one, ModuleId other) const {
    return modules_[one] == modules_[other] && same_place(folded_.module_layers[one], folded_.module_layers[other]);
  }
  /// Of no layer both, or a period apart.
  [[nodiscard]] bool same_place(LayerNumber one, LayerNumber other) const {
    return one == 0 ? other == 0 : one + period_ == other;
  }

  const Folded& folded_;
  const Program& program_;
  std::uint32_t period_;
  std::vector<std::uint32_t> tensors_, modules_;
};

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

bool folds(const Folded& folded) {
  return Proof(folded).holds();
}

Program unfold(const Folded& folded) {
  return Unfolding(folded).run();
}

}  // namespace ullage::program
