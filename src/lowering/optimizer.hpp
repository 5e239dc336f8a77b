// SPDX-License-Identifier: Apache-2.0
// What an optimizer's step asks for (torch/optim of 2.11).
#pragma once

#include "lowering/context.hpp"
#include "lowering/lower.hpp"

#include <vector>

namespace ullage::lowering {

class Optimizer {
 public:
  Optimizer(OptimizerKind kind, std::vector<Tensor> parameters) : kind_(kind), parameters_(std::move(parameters)) {}
  void step(Context& context);
  void zero_grad();

 private:
  void adamw(Context& context);
  void sgd(Context& context);
  void keep(Context& context, Tensor state, const char* name);
  [[nodiscard]] std::vector<Tensor> with_gradient() const;

  OptimizerKind kind_;
  std::vector<Tensor> parameters_;
  std::vector<Tensor> states_;
};

}  // namespace ullage::lowering
