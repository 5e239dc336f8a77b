// SPDX-License-Identifier: Apache-2.0
#include "lowering/optimizer.hpp"

namespace ullage::lowering {
namespace {

Tensor like(Context& context, const Tensor& tensor, program::Role role) {
  return context.make(tensor->sizes, tensor->strides, tensor->type, role);
}

void note_update(Context& context, const char* name, const std::vector<Tensor>& parameters, double passes) {
  program::Operator& op = context.op(name);
  op.work = program::Work::optimizer;
  for (const Tensor& parameter : parameters) op.bytes += passes * static_cast<double>(parameter->bytes());
}

}  // namespace

std::vector<Tensor> Optimizer::with_gradient() const {
  std::vector<Tensor> found;
  for (const Tensor& parameter : parameters_)
    if (parameter->gradient) found.push_back(parameter);
  return found;
}

void Optimizer::step(Context& context) {
  kind_ == OptimizerKind::sgd ? sgd(context) : adamw(context);
}

void Optimizer::adamw(Context& context) {
  const std::vector<Tensor> parameters = with_gradient();
  const bool first = states_.empty();
  const bool fused = kind_ == OptimizerKind::adamw_fused;
  for (const Tensor& parameter : parameters) {
    if (!first) break;
    context.op("aten::zeros_like");
    if (fused) keep(context, context.make({}, DType::fp32, program::Role::optimizer_state), "step");
    keep(context, like(context, parameter, program::Role::optimizer_state), "exp_avg");
    keep(context, like(context, parameter, program::Role::optimizer_state), "exp_avg_sq");
  }
  if (fused) return note_update(context, "aten::_fused_adamw_", parameters, 7);
  if (kind_ == OptimizerKind::adamw_forloop) {
    Tensor denominator;
    for (const Tensor& parameter : parameters) {
      note_update(context, "aten::sqrt", {parameter}, 9);
      const Tensor root = like(context, parameter, program::Role::temporary);
      const Tensor scaled = like(context, parameter, program::Role::temporary);
      denominator = scaled;
    }
    return;
  }
  note_update(context, "aten::_foreach_sqrt", parameters, 12);
  std::vector<Tensor> roots;
  for (const Tensor& parameter : parameters) roots.push_back(like(context, parameter, program::Role::temporary));
}

void Optimizer::sgd(Context& context) {
  const std::vector<Tensor> parameters = with_gradient();
  note_update(context, "aten::_foreach_add_", parameters, 5);
  if (!states_.empty()) return;
  for (const Tensor& parameter : parameters)
    keep(context, like(context, parameter, program::Role::optimizer_state), "momentum_buffer");
}

void Optimizer::keep(Context& context, Tensor state, const char* name) {
  context.tape.program().tensors[state->storage->id].kind = name;
  states_.push_back(std::move(state));
}

void Optimizer::zero_grad() {
  for (const Tensor& parameter : parameters_) parameter->gradient = Tensor();
}

}  // namespace ullage::lowering
