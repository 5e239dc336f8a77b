// SPDX-License-Identifier: Apache-2.0
// What PyTorch keeps beside the tensors: the mode of gradients, autocast and its cache, cuBLAS handles, the device.
#pragma once

#include "lowering/device.hpp"
#include "lowering/graph.hpp"
#include "lowering/tensor.hpp"

#include <cstdint>
#include <initializer_list>
#include <unordered_map>
#include <vector>

namespace ullage::lowering {

struct Autocast {
  bool on = false;
  DType type = DType::bf16;
  std::vector<Tensor> copies;  ///< of leaves, until autocast ends
  std::unordered_map<const TensorBody*, std::size_t> copy_of;
};

class Context {
 public:
  Context(Tape& the_tape, const DeviceFacts& facts) : tape(the_tape), device(facts) {}

  Tape& tape;
  DeviceFacts device;
  DeviceAnswers answers;
  Autocast autocast;
  bool gradients = true;  ///< torch.is_grad_enabled()
  bool training = true;
  bool tf32 = false;
  bool in_backward = false;  ///< on the engine's thread
  std::uint64_t sequence = 0;
  std::uint64_t backward_passes = 0;
  CheckpointFrame* saving = nullptr;       ///< the region whose saved tensors are dropped
  CheckpointFrame* recomputing = nullptr;  ///< the region that is run again

  /// An operator begins: what it asks for is its.
  program::Operator& op(const char* name) { return tape.begin_operator(name); }
  [[nodiscard]] Tensor make(const Extents& sizes, DType type, program::Role role = program::Role::temporary);
  [[nodiscard]] Tensor make(const Extents& sizes, const Extents& strides, DType type,
                            program::Role role = program::Role::temporary);
  /// Scratch memory of one kernel: gone when the Tensor goes.
  [[nodiscard]] Tensor scratch(std::uint64_t bytes) { return make({static_cast<std::int64_t>(bytes)}, DType::boolean); }
  /// Another view of the same memory, without a graph.
  [[nodiscard]] Tensor alias(const Tensor& of, const Extents& sizes, const Extents& strides);

  /// Whether a node must be made for an operator of these inputs.
  [[nodiscard]] bool records(std::initializer_list<const Tensor*> inputs) const;
  /// Keeps a tensor for the backward pass, if `needed`.
  [[nodiscard]] Saved save(const Tensor& tensor, bool needed = true);
  /// Makes `output` the result of a node with these inputs.
  void attach(const char* name, Tensor& output, std::initializer_list<const Tensor*> inputs, Backward backward);
  /// The same of several results.
  void attach_all(const char* name, const std::vector<Tensor*>& outputs, const std::vector<const Tensor*>& inputs,
                  Backward backward);
  /// The first GEMM of a thread gives its handle a workspace.
  void need_cublas();
  /// The first GEMM with a bias takes a workspace for cuBLASLt too.
  void need_cublas_lt();

 private:
  void need_workspace(Ref<Storage>& workspace, std::uint64_t bytes);
  Ref<Storage> workspaces_[2], lt_workspaces_[2];
};

[[nodiscard]] inline bool needs_gradient(const Tensor& tensor) {
  return tensor && (tensor->requires_grad || tensor->node);
}

/// A module's name is in force while this lives.
class ModuleScope {
 public:
  ModuleScope(Context& context, std::string_view name) : tape_(context.tape), before_(tape_.module) {
    tape_.module = tape_.module_below(name);
  }
  ~ModuleScope() { tape_.module = before_; }
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  Tape& tape_;
  program::ModuleId before_;
};

/// What is asked for and run is a layer's while this lives.
class LayerScope {
 public:
  LayerScope(Context& context, program::LayerNumber layer)
      : tape_(context.tape), before_(std::exchange(context.tape.layer, layer)) {}
  ~LayerScope() { tape_.layer = before_; }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

 private:
  Tape& tape_;
  program::LayerNumber before_;
};

/// The scope of the layer that asked for a tensor.
[[nodiscard]] inline LayerScope scope_of(Context& context, const Tensor& tensor) {
  return LayerScope(context, context.tape.layer_of(tensor->storage->id));
}

/// torch.no_grad() or enable_grad(), while this lives.
class GradientMode {
 public:
  GradientMode(Context& context, bool on) : context_(context), before_(context.gradients) { context.gradients = on; }
  ~GradientMode() { context_.gradients = before_; }
  GradientMode(const GradientMode&) = delete;
  GradientMode& operator=(const GradientMode&) = delete;

 private:
  Context& context_;
  bool before_;
};

/// torch.autocast, while this lives; its cache goes with it.
class AutocastMode {
 public:
  AutocastMode(Context& context, bool on) : context_(context), before_(std::move(context.autocast)) {
    context.autocast = {on, before_.type, {}, {}};
  }
  ~AutocastMode() { context_.autocast = std::move(before_); }
  AutocastMode(const AutocastMode&) = delete;
  AutocastMode& operator=(const AutocastMode&) = delete;

 private:
  Context& context_;
  Autocast before_;
};

}  // namespace ullage::lowering
