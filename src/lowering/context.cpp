// SPDX-License-Identifier: Apache-2.0
#include "lowering/context.hpp"

#include "lowering/checkpoint.hpp"

namespace ullage::lowering {
namespace {

using program::Role;

// Bytes that PyTorch gives to a cuBLAS handle (aten/src/ATen/cuda/CublasHandlePool.cpp, 2.11).
std::uint64_t cublas_workspace(const DeviceFacts& device) {
  constexpr std::uint64_t usual = (4096 * 2 + 16 * 8) * 1024, large = 4096 * 8 * 1024;
  return device.compute_major == 9 && device.compute_minor == 0 ? large : usual;
}

Ref<Node> gradient_target(const Tape& tape, const Tensor& tensor) {
  if (!tensor || tensor->node) return tensor ? tensor->node : Ref<Node>();
  if (!tensor->requires_grad) return {};
  tensor->node = Ref<Node>(new Node);
  tensor->node->name = "AccumulateGrad";
  tensor->node->leaf = tensor.get();
  tensor->node->layer = tape.layer_of(tensor->storage->id);
  tensor->node->sequence = ~std::uint64_t{0};
  tensor->node->outputs.push_back({tensor->sizes, tensor->type});
  return tensor->node;
}

}  // namespace

Tensor Context::make(const Extents& sizes, const Extents& strides, DType type, Role role) {
  Tensor made(new TensorBody);
  made->sizes = sizes;
  made->strides = strides;
  made->type = type;
  made->storage = Ref<Storage>(new Storage(tape, made->bytes(), role));
  return made;
}

Tensor Context::make(const Extents& sizes, DType type, Role role) {
  return make(sizes, contiguous_strides(sizes), type, role);
}

Tensor Context::alias(const Tensor& of, const Extents& sizes, const Extents& strides) {
  Tensor view(new TensorBody);
  view->storage = of->storage;
  view->base = of->base ? of->base : of;
  view->sizes = sizes;
  view->strides = strides;
  view->type = of->type;
  return view;
}

bool Context::records(std::initializer_list<const Tensor*> inputs) const {
  if (!gradients) return false;
  for (const Tensor* input : inputs)
    if (needs_gradient(*input)) return true;
  return false;
}

Saved Context::save(const Tensor& tensor, bool needed) {
  if (!needed) return {};
  if (saving) return saving->drop();
  if (recomputing) recomputing->keep(alias(tensor, tensor->sizes, tensor->strides));
  if (recomputing) return {};
  tape.is(tensor->storage->id, Role::activation);
  // without its node: a result would own the node that owns it
  Tensor kept = alias(tensor, tensor->sizes, tensor->strides);
  kept->base = tensor->base;
  return Saved(std::move(kept));
}

void Context::attach(const char* name, Tensor& output, std::initializer_list<const Tensor*> inputs, Backward backward) {
  attach_all(name, {&output}, inputs, std::move(backward));
}

void Context::attach_all(const char* name, const std::vector<Tensor*>& outputs,
                         const std::vector<const Tensor*>& inputs, Backward backward) {
  Ref<Node> node(new Node);
  node->name = name;
  node->sequence = sequence++;
  node->module = tape.module;
  node->layer = tape.layer;
  node->recomputed = tape.recomputing;
  node->next.reserve(inputs.size());
  for (const Tensor* input : inputs)
    node->next.push_back({gradient_target(tape, *input), *input ? (*input)->output : std::uint8_t{0}});
  node->backward = std::move(backward);
  for (Tensor* output : outputs) {
    (*output)->output = static_cast<std::uint8_t>(node->outputs.size());
    node->outputs.push_back({(*output)->sizes, (*output)->type});
    (*output)->node = node;
  }
}

void Context::need_workspace(Ref<Storage>& workspace, std::uint64_t bytes) {
  if (workspace) return;
  const LayerScope scope(*this, 0);  // not the first layer's: every layer uses it
  workspace = Ref<Storage>(new Storage(tape, bytes, Role::workspace));
}

void Context::need_cublas() {
  need_workspace(workspaces_[in_backward ? 1 : 0], cublas_workspace(device));
}

void Context::need_cublas_lt() {
  constexpr std::uint64_t bytes = 1024 * 1024;
  need_workspace(lt_workspaces_[in_backward ? 1 : 0], bytes);
}

}  // namespace ullage::lowering
