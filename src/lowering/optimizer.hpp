// SPDX-License-Identifier: Apache-2.0
// What an optimizer's step asks for (torch/optim of 2.11; transformers' Adafactor, bitsandbytes' AdamW8bit).
#pragma once

#include "lowering/context.hpp"
#include "lowering/lower.hpp"

#include <unordered_map>
#include <vector>

namespace ullage::lowering {

class Optimizer {
 public:
  Optimizer(OptimizerKind kind, std::vector<Tensor> parameters) : kind_(kind), parameters_(std::move(parameters)) {}
  void step(Context& context);
  void zero_grad();

 private:
  /// What Adafactor keeps of a parameter: a row and a column of a matrix, the whole of a vector.
  struct Factored {
    Tensor row, column, whole, rms;
  };
  void adamw(Context& context);
  void sgd(Context& context);
  void adafactor(Context& context);
  void adamw_eight_bit(Context& context);
  void make_eight_bit(Context& context, const Tensor& parameter);
  /// The states of a parameter with that gradient.
  static void make_factored(Context& context, const Tensor& gradient, Factored& state);
  void keep(Context& context, Tensor state, const char* name);
  [[nodiscard]] std::vector<Tensor> with_gradient() const;

  OptimizerKind kind_;
  std::vector<Tensor> parameters_;
  std::vector<Tensor> states_;
  bool has_maps_ = false;  ///< of the 8-bit states, two for all
  std::unordered_map<const TensorBody*, Factored> factored_;
};

}  // namespace ullage::lowering
