// SPDX-License-Identifier: Apache-2.0
#include "lowering/operators.hpp"
#include "lowering/operators/iterator.hpp"

namespace ullage::lowering {
namespace {

void note_bytes(program::Operator& op, std::initializer_list<const Tensor*> inputs, double result) {
  op.work = program::Work::pointwise;
  op.bytes = result;
  for (const Tensor* input : inputs) op.bytes += (*input)->bytes_behind();
}

Tensor unary_backward(Context& context, const char* name, const Tensor& gradient, const Tensor& saved) {
  return pointwise(context, name, {&gradient, &saved}, gradient->type);
}

/// An operator whose gradient is one kernel over the incoming one and its saved input.
Tensor saves_input(Context& context, const Tensor& input, const char* name, const char* backward, const char* node) {
  const bool records = context.records({&input});
  Saved saved = context.save(input, records);
  Tensor result = pointwise(context, name, {&input}, input->type);
  if (!records) return result;
  context.attach(node, result, {&input},
                 [saved = std::move(saved), backward](Context& c, Gradients& in, Gradients& out) {
                   out[0] = unary_backward(c, backward, in[0], saved.get(c));
                 });
  return result;
}

/// The same of its result.
Tensor saves_result(Context& context, const Tensor& input, const char* name, const char* backward, const char* node) {
  const bool records = context.records({&input});
  Tensor result = pointwise(context, name, {&input}, input->type);
  if (!records) return result;
  Saved saved = context.save(result);
  context.attach(node, result, {&input},
                 [saved = std::move(saved), backward](Context& c, Gradients& in, Gradients& out) {
                   out[0] = unary_backward(c, backward, in[0], saved.get(c));
                 });
  return result;
}

/// With a number: the gradient is scaled too, or passed on.
Tensor with_number(Context& context, const Tensor& input, const char* name, const char* node, bool scales) {
  Tensor result = pointwise(context, name, {&input}, input->type);
  if (!context.records({&input})) return result;
  context.attach(node, result, {&input}, [name, scales](Context& c, Gradients& in, Gradients& out) {
    out[0] = scales ? pointwise(c, name, {&in[0]}, in[0]->type) : in[0];
  });
  return result;
}

}  // namespace

DType promoted(const Tensor& left, const Tensor& right) {
  if (left->type == right->type) return left->type;
  const auto rank = [](const Tensor& tensor) {
    const int dimensioned = tensor->sizes.count() > 0 ? 10 : 0;
    switch (tensor->type) {
      case DType::fp32:
        return dimensioned + 5;
      case DType::bf16:
      case DType::fp16:
        return dimensioned + 4;
      case DType::int64:
        return dimensioned + 3;
      case DType::int32:
        return dimensioned + 2;
      case DType::boolean:
        return dimensioned + 1;
    }
    return 0;
  };
  return rank(left) >= rank(right) ? left->type : right->type;
}

Tensor pointwise(Context& context, const char* name, std::initializer_list<const Tensor*> inputs, DType type) {
  const Layout layout = result_layout({inputs.begin(), inputs.size()});
  program::Operator& op = context.op(name);
  note_bytes(op, inputs, static_cast<double>(layout.sizes.product()) * static_cast<double>(bytes_of(type)));
  return context.make(layout.sizes, layout.strides, type);
}

program::Operator& note_written(Context& context, const char* name, double bytes) {
  program::Operator& op = context.op(name);
  op.work = program::Work::pointwise;
  op.bytes = bytes;
  return op;
}

void in_place(Context& context, const char* name, std::initializer_list<const Tensor*> inputs) {
  note_bytes(context.op(name), inputs, (*inputs.begin())[0]->bytes_behind());
}

Tensor add_raw(Context& context, const Tensor& left, const Tensor& right) {
  return pointwise(context, "aten::add", {&left, &right}, promoted(left, right));
}

void add_in_place(Context& context, const Tensor& into, const Tensor& added) {
  in_place(context, "aten::add_", {&into, &added});
}

Tensor cast(Context& context, const Tensor& tensor, DType type) {
  if (tensor->type == type) return tensor;
  program::Operator& op = context.op("aten::_to_copy");
  op.work = program::Work::copy;
  op.bytes = tensor->bytes_behind() + static_cast<double>(tensor->elements()) * static_cast<double>(bytes_of(type));
  Tensor result = context.make(tensor->sizes, preserved_strides(*tensor), type);
  if (!context.records({&tensor})) return result;
  context.attach("ToCopyBackward0", result, {&tensor},
                 [from = tensor->type](Context& c, Gradients& in, Gradients& out) { out[0] = cast(c, in[0], from); });
  return result;
}

Tensor add(Context& context, const Tensor& left, const Tensor& right) {
  Tensor result = add_raw(context, left, right);
  if (!context.records({&left, &right})) return result;
  context.attach("AddBackward0", result, {&left, &right},
                 [wants_left = needs_gradient(left), wants_right = needs_gradient(right)](Context&, Gradients& in,
                                                                                          Gradients& out) {
                   if (wants_left) out[0] = in[0];
                   if (wants_right) out[1] = in[0];
                 });
  return result;
}

Tensor mul(Context& context, const Tensor& left, const Tensor& right) {
  const bool records = context.records({&left, &right});
  const bool wants_left = needs_gradient(left), wants_right = needs_gradient(right);
  Saved saved_right = context.save(right, records && wants_left);
  Saved saved_left = context.save(left, records && wants_right);
  Tensor result = pointwise(context, "aten::mul", {&left, &right}, promoted(left, right));
  if (!records) return result;
  context.attach("MulBackward0", result, {&left, &right},
                 [=, saved_left = std::move(saved_left), saved_right = std::move(saved_right)](
                     Context& c, Gradients& in, Gradients& out) {
                   const Tensor other = saved_right.get(c), self = saved_left.get(c);
                   if (wants_right) out[1] = pointwise(c, "aten::mul", {&in[0], &self}, promoted(in[0], self));
                   if (wants_left) out[0] = pointwise(c, "aten::mul", {&in[0], &other}, promoted(in[0], other));
                 });
  return result;
}

Tensor add_number(Context& context, const Tensor& tensor) {
  return with_number(context, tensor, "aten::add", "AddBackward0", false);
}

Tensor mul_number(Context& context, const Tensor& tensor) {
  return with_number(context, tensor, "aten::mul", "MulBackward0", true);
}

Tensor div_number(Context& context, const Tensor& tensor) {
  return with_number(context, tensor, "aten::div", "DivBackward0", true);
}

Tensor neg(Context& context, const Tensor& tensor) {
  return with_number(context, tensor, "aten::neg", "NegBackward0", true);
}

// grad * (exponent * self^(exponent - 1))
Tensor pow_number(Context& context, const Tensor& given) {
  const Tensor tensor = context.autocast.on ? cast(context, given, DType::fp32) : given;
  const bool records = context.records({&tensor});
  Saved saved = context.save(tensor, records);
  Tensor result = pointwise(context, "aten::pow", {&tensor}, tensor->type);
  if (!records) return result;
  context.attach("PowBackward0", result, {&tensor},
                 [saved = std::move(saved)](Context& c, Gradients& in, Gradients& out) {
                   const Tensor self = saved.get(c);
                   const Tensor power = pointwise(c, "aten::pow", {&self}, self->type);
                   const Tensor scaled = pointwise(c, "aten::mul", {&power}, power->type);
                   out[0] = pointwise(c, "aten::mul", {&in[0], &scaled}, promoted(in[0], scaled));
                 });
  return result;
}

// -0.5 * grad * result^3
Tensor rsqrt(Context& context, const Tensor& tensor) {
  const bool records = context.records({&tensor});
  Tensor result = pointwise(context, "aten::rsqrt", {&tensor}, tensor->type);
  if (!records) return result;
  Saved saved = context.save(result);
  context.attach("RsqrtBackward0", result, {&tensor},
                 [saved = std::move(saved)](Context& c, Gradients& in, Gradients& out) {
                   const Tensor root = saved.get(c);
                   const Tensor cube = pointwise(c, "aten::pow", {&root}, root->type);
                   const Tensor scaled = pointwise(c, "aten::mul", {&in[0]}, in[0]->type);
                   out[0] = pointwise(c, "aten::mul", {&scaled, &cube}, promoted(scaled, cube));
                 });
  return result;
}

Tensor tanh(Context& context, const Tensor& tensor) {
  return saves_result(context, tensor, "aten::tanh", "aten::tanh_backward", "TanhBackward0");
}

Tensor sigmoid(Context& context, const Tensor& tensor) {
  return saves_result(context, tensor, "aten::sigmoid", "aten::sigmoid_backward", "SigmoidBackward0");
}

Tensor silu(Context& context, const Tensor& tensor) {
  return saves_input(context, tensor, "aten::silu", "aten::silu_backward", "SiluBackward0");
}

Tensor gelu(Context& context, const Tensor& tensor) {
  return saves_input(context, tensor, "aten::gelu", "aten::gelu_backward", "GeluBackward0");
}

Tensor relu(Context& context, const Tensor& tensor) {
  return saves_result(context, tensor, "aten::relu", "aten::threshold_backward", "ReluBackward0");
}

Tensor dropout(Context& context, const Tensor& tensor, double probability) {
  if (!context.training || probability == 0) return tensor;
  const bool records = context.records({&tensor});
  const Tensor mask = pointwise(context, "aten::native_dropout", {&tensor}, DType::boolean);
  context.tape.last_operator().bytes += static_cast<double>(tensor->bytes());
  Tensor result = context.make(mask->sizes, mask->strides, tensor->type);
  if (!records) return result;
  Saved saved = context.save(mask);
  context.attach("NativeDropoutBackward0", result, {&tensor},
                 [saved = std::move(saved)](Context& c, Gradients& in, Gradients& out) {
                   out[0] = unary_backward(c, "aten::native_dropout_backward", in[0], saved.get(c));
                 });
  return result;
}

}  // namespace ullage::lowering
