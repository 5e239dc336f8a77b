// SPDX-License-Identifier: Apache-2.0
// Whether the period that stands for many layers does what the one after it does.
#include "program/folded.hpp"
#include "program/ordinals.hpp"

#include <algorithm>
#include <tuple>

namespace ullage::program {
namespace {

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

}  // namespace

bool folds(const Folded& folded) {
  return Proof(folded).holds();
}

}  // namespace ullage::program
