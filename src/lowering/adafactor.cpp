// SPDX-License-Identifier: Apache-2.0
// Adafactor of transformers (optimization.py) as its Trainer makes it: scale_parameter=False, relative_step=False, no
// first moment. One parameter after the other; what the loop's variables hold lives until the next parameter.
#include "lowering/operators.hpp"
#include "lowering/optimizer.hpp"

namespace ullage::lowering {
namespace {

/// A kernel over one tensor.
Tensor unary(Context& context, const char* name, const Tensor& input) {
  return pointwise(context, name, {&input}, input->type);
}

/// norm(2) / sqrt(elements), of no dimension.
Tensor root_mean_square(Context& context, const Tensor& tensor) {
  const Tensor norm = sum_raw(context, tensor, (1U << tensor->sizes.count()) - 1, false, "aten::linalg_vector_norm");
  return unary(context, "aten::div", norm);
}

/// state.mul_(beta).add_(added)
void decay(Context& context, const Tensor& state, const Tensor& added) {
  in_place(context, "aten::mul_", {&state});
  add_in_place(context, state, added);
}

void decay_to_mean(Context& context, const Tensor& state, const Tensor& squares, std::size_t dimension) {
  in_place(context, "aten::mul_", {&state});
  const Tensor mean = sum_raw(context, squares, 1U << dimension, false, "aten::mean");
  add_in_place(context, state, mean);
}

// _approx_sq_grad
Tensor outer_product(Context& context, const Tensor& row, const Tensor& column) {
  const std::size_t last = row->sizes.count() - 1;
  const Tensor share = [&] {
    const Tensor mean = sum_raw(context, row, 1U << last, true, "aten::mean");
    return pointwise(context, "aten::div", {&row, &mean}, row->type);
  }();
  in_place(context, "aten::rsqrt_", {&share});
  const Tensor rows = unsqueeze(context, share, last + 1), columns = unsqueeze(context, column, last);
  const Tensor factor = unary(context, "aten::rsqrt", columns);
  return pointwise(context, "aten::mul", {&rows, &factor}, row->type);
}

// update.div_((rms(update) / threshold).clamp_(min=1))
void clip(Context& context, const Tensor& update) {
  const Tensor threshold = [&] {
    const Tensor mean = root_mean_square(context, update);
    return unary(context, "aten::div", mean);
  }();
  in_place(context, "aten::clamp_", {&threshold});
  in_place(context, "aten::div_", {&update, &threshold});
}

}  // namespace

void Optimizer::make_factored(Context& context, const Tensor& gradient, Factored& state) {
  const auto made = [&](const Extents& sizes, const char* name) {
    const Tensor zeros = context.make(sizes, DType::fp32, program::Role::optimizer_state);
    context.tape.program().tensors[zeros->storage->id].kind = name;
    return zeros;
  };
  Extents rows = gradient->sizes, columns = gradient->sizes;
  note_written(context, "aten::zeros", 0);
  if (rows.count() < 2) {
    state.whole = made(rows, "exp_avg_sq");
    return;
  }
  rows.erase(rows.count() - 1);
  columns.erase(columns.count() - 2);
  state.row = made(rows, "exp_avg_sq_row");
  state.column = made(columns, "exp_avg_sq_col");
}

void Optimizer::adafactor(Context& context) {
  Tensor gradient, wide, update;
  for (const Tensor& parameter : with_gradient()) {
    const LayerScope scope = scope_of(context, parameter);
    gradient = parameter->gradient;
    gradient = cast(context, gradient, DType::fp32);
    const auto [place, first] = factored_.try_emplace(parameter.get());
    Factored& state = place->second;
    if (first) make_factored(context, gradient, state);
    wide = parameter;
    wide = cast(context, wide, DType::fp32);
    state.rms = root_mean_square(context, wide);
    context.tape.program().tensors[state.rms->storage->id].kind = "RMS";
    context.tape.is(state.rms->storage->id, program::Role::optimizer_state);
    update = [&] {
      const Tensor squares = unary(context, "aten::pow", gradient);
      return unary(context, "aten::add", squares);
    }();
    if (state.whole) {
      decay(context, state.whole, update);
      update = unary(context, "aten::rsqrt", state.whole);
    } else {
      decay_to_mean(context, state.row, update, update->sizes.count() - 1);
      decay_to_mean(context, state.column, update, update->sizes.count() - 2);
      update = outer_product(context, state.row, state.column);
    }
    in_place(context, "aten::mul_", {&update, &gradient});
    clip(context, update);
    in_place(context, "aten::mul_", {&update});
    const Tensor negative = unary(context, "aten::neg", update);
    add_in_place(context, wide, negative);
    if (wide->type != parameter->type) in_place(context, "aten::copy_", {&parameter, &wide});
  }
}

}  // namespace ullage::lowering
