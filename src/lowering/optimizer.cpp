// SPDX-License-Identifier: Apache-2.0
#include "lowering/optimizer.hpp"

#include "lowering/operators.hpp"

#include <algorithm>

namespace ullage::lowering {
namespace {

Tensor like(Context& context, const Tensor& tensor, program::Role role) {
  return context.make(tensor->sizes, tensor->strides, tensor->type, role);
}

/// An update of all parameters: how often each element is read or written, in how many kernels that follow each other.
struct Update {
  const char* name;
  double passes;
  std::uint32_t kernels;
};

// One after the other: mul_ of the weights, lerp_, mul_ and addcmul_ of the moments, sqrt, div_, add_, addcdiv_; and
// all of it in one kernel (torch/optim/adam.py, _multi_tensor_adam and _fused_adam).
constexpr Update adamw_single{"aten::sqrt", 20, 8}, adamw_foreach{"aten::_foreach_sqrt", 20, 8},
    adamw_fused{"aten::_fused_adamw_", 7, 1};
// mul_ and add_ of the momentum, add_ of the weights (torch/optim/sgd.py); the first time the gradient is copied
constexpr Update sgd_first{"aten::_foreach_add_", 5, 2}, sgd_later{"aten::_foreach_add_", 8, 3};

/// Launches of one multi_tensor_apply: each takes 320 chunks of 65536 elements of at most 48 tensors
/// (aten/src/ATen/native/cuda/MultiTensorApply.cuh, three lists).
std::uint32_t launches_of(const Tape& tape, const std::vector<Tensor>& parameters) {
  constexpr std::int64_t chunk = 65536;
  std::int64_t chunks = 0, tensors = 0;
  for (const Tensor& parameter : parameters) {
    const auto alike = static_cast<std::int64_t>(tape.layers_like(tape.layer_of(parameter->storage->id)));
    chunks += alike * ((parameter->elements() + chunk - 1) / chunk), tensors += alike;
  }
  return static_cast<std::uint32_t>(std::max<std::int64_t>((chunks + 319) / 320, (tensors + 47) / 48));
}

void note_single_update(Context& context, const Update& update, const Tensor& parameter) {
  program::Operator& op = context.op(update.name);
  op.work = program::Work::optimizer;
  op.bytes = update.passes * static_cast<double>(parameter->bytes());
  op.launches = update.kernels;
}

void note_update(Context& context, const Update& update, const std::vector<Tensor>& parameters) {
  program::Operator& op = context.op(update.name);
  op.work = program::Work::optimizer;
  const Tape& tape = context.tape;
  for (const Tensor& parameter : parameters)
    op.bytes += update.passes *
                static_cast<double>(parameter->bytes() * tape.layers_like(tape.layer_of(parameter->storage->id)));
  op.launches = update.kernels * launches_of(tape, parameters);
}

}  // namespace

std::vector<Tensor> Optimizer::with_gradient() const {
  std::vector<Tensor> found;
  for (const Tensor& parameter : parameters_)
    if (parameter->gradient) found.push_back(parameter);
  return found;
}

void Optimizer::step(Context& context) {
  switch (kind_) {
    case OptimizerKind::sgd:
      return sgd(context);
    case OptimizerKind::adafactor:
      return adafactor(context);
    case OptimizerKind::adamw_8bit:
      return adamw_eight_bit(context);
    case OptimizerKind::adamw:
    case OptimizerKind::adamw_fused:
    case OptimizerKind::adamw_forloop:
      return adamw(context);
  }
}

void Optimizer::adamw(Context& context) {
  const std::vector<Tensor> parameters = with_gradient();
  const bool first = states_.empty();
  const bool fused = kind_ == OptimizerKind::adamw_fused;
  for (const Tensor& parameter : parameters) {
    if (!first) break;
    const LayerScope scope = scope_of(context, parameter);
    note_written(context, "aten::zeros_like", 2.0 * static_cast<double>(parameter->bytes())).launches = 2;
    if (fused) keep(context, context.make({}, DType::fp32, program::Role::optimizer_state), "step");
    keep(context, like(context, parameter, program::Role::optimizer_state), "exp_avg");
    keep(context, like(context, parameter, program::Role::optimizer_state), "exp_avg_sq");
  }
  if (fused) return note_update(context, adamw_fused, parameters);
  if (kind_ == OptimizerKind::adamw_forloop) {
    Tensor denominator;
    for (const Tensor& parameter : parameters) {
      const LayerScope scope = scope_of(context, parameter);
      note_single_update(context, adamw_single, parameter);
      const Tensor root = like(context, parameter, program::Role::temporary);
      const Tensor scaled = like(context, parameter, program::Role::temporary);
      denominator = scaled;
    }
    return;
  }
  note_update(context, adamw_foreach, parameters);
  std::vector<Tensor> roots;
  for (const Tensor& parameter : parameters) {
    const LayerScope scope = scope_of(context, parameter);
    roots.push_back(like(context, parameter, program::Role::temporary));
  }
}

void Optimizer::sgd(Context& context) {
  const std::vector<Tensor> parameters = with_gradient();
  note_update(context, states_.empty() ? sgd_first : sgd_later, parameters);
  if (!states_.empty()) return;
  for (const Tensor& parameter : parameters) {
    const LayerScope scope = scope_of(context, parameter);
    keep(context, like(context, parameter, program::Role::optimizer_state), "momentum_buffer");
  }
}

void Optimizer::keep(Context& context, Tensor state, const char* name) {
  context.tape.program().tensors[state->storage->id].kind = name;
  states_.push_back(std::move(state));
}

void Optimizer::zero_grad() {
  for (const Tensor& parameter : parameters_) parameter->gradient = Tensor();
}

}  // namespace ullage::lowering
