// SPDX-License-Identifier: Apache-2.0
// The backward graph, with the ownership of PyTorch's: what a node saved goes when it has run (torch/csrc/autograd).
#pragma once

#include "lowering/tensor.hpp"

#include <functional>
#include <vector>

namespace ullage::lowering {

class Context;
class Saved;

/// A region whose saved tensors are dropped, and made again when the first is asked for (checkpoint.hpp).
struct CheckpointFrame : Counted {
  std::function<Tensor(Context&)> run;
  bool autocast = false;
  program::ModuleId module = 0;
  std::size_t dropped = 0;
  bool is_recomputed = false;
  std::vector<Tensor> kept;  ///< by index, empty when taken

  Saved drop();
  /// Throws EnoughRecomputed when every saved tensor is there again.
  void keep(Tensor tensor);
  /// The saved tensor of that index, after recomputing what is not there.
  Tensor take(Context& context, std::size_t index);
};

/// A tensor kept for the backward pass: itself, or where recomputation will find it.
class Saved {
 public:
  Saved() = default;
  explicit Saved(Tensor tensor) : tensor_(std::move(tensor)) {}
  Saved(Ref<CheckpointFrame> frame, std::size_t index) : frame_(std::move(frame)), index_(index) {}
  [[nodiscard]] Tensor get(Context& context) const;

 private:
  Tensor tensor_;
  Ref<CheckpointFrame> frame_;
  std::size_t index_ = 0;
};

using Gradients = std::vector<Tensor>;
/// From the gradients of a node's outputs to those of its inputs; `wanted` is asked before one is made.
using Backward = std::function<void(Context& context, Gradients& gradients, Gradients& results)>;

struct Edge {
  Ref<Node> to;
  std::uint8_t input = 0;
};

struct Node : Counted {
  const char* name = "";
  std::uint64_t sequence = 0;
  program::ModuleId module = 0;
  program::LayerNumber layer = 0;
  bool recomputed = false;
  std::vector<Edge> next;
  /// Sizes and type that a gradient of each output must have.
  struct Output {
    Extents sizes;
    DType type = DType::fp32;
  };
  std::vector<Output> outputs;
  Backward backward;
  TensorBody* leaf = nullptr;  ///< a node that accumulates into this

  // of a running backward pass
  std::uint32_t waits_for = 0;
  std::uint64_t visit = 0;
  Gradients buffer;

  Node() = default;
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  [[nodiscard]] bool wants(std::size_t input) const { return static_cast<bool>(next[input].to); }
};

/// Runs the graph behind `root`, a scalar whose gradient is 1.
void run_backward(Context& context, const Tensor& root);

}  // namespace ullage::lowering
