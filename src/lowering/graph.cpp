// SPDX-License-Identifier: Apache-2.0
#include "lowering/graph.hpp"

#include "lowering/context.hpp"
#include "lowering/operators.hpp"

#include <algorithm>
#include <queue>

namespace ullage::lowering {
namespace {

using program::Role;

/// What is behind a node that goes, one after the other: a graph is deeper than a stack.
thread_local std::vector<Ref<Node>> doomed;
thread_local bool draining = false;

struct Later {
  bool operator()(const Node* left, const Node* right) const { return left->sequence < right->sequence; }
};

/// How many gradients each node behind `root` waits for.
void count_dependencies(Node& root, std::uint64_t visit) {
  std::vector<Node*> open{&root};
  root.visit = visit;
  root.waits_for = 0;
  while (!open.empty()) {
    Node* node = open.back();
    open.pop_back();
    for (const Edge& edge : node->next) {
      if (!edge.to) continue;
      if (edge.to->visit != visit) {
        edge.to->visit = visit;
        edge.to->waits_for = 0;
        open.push_back(edge.to.get());
      }
      ++edge.to->waits_for;
    }
  }
}

// A buffered gradient takes another in place only when nobody else has it (input_buffer.cpp, accumulate).
void add_to_buffer(Context& context, Tensor& buffered, Tensor added) {
  if (!buffered) {
    buffered = std::move(added);
    return;
  }
  const bool alone = buffered->owners == 1 && buffered->storage->owners == 1 && is_dense(*buffered);
  if (alone) {
    add_in_place(context, buffered, added);
    return;
  }
  buffered = add_raw(context, buffered, added);
}

void accumulate(Context& context, TensorBody& leaf, Tensor gradient) {
  if (leaf.gradient) {
    add_in_place(context, leaf.gradient, gradient);
    return;
  }
  const bool same_layout = gradient->strides == leaf.strides || is_contiguous(*gradient);
  if (gradient->owners == 1 && same_layout && gradient->type == leaf.type) {
    leaf.gradient = context.alias(gradient, gradient->sizes, gradient->strides);
    leaf.gradient->base = gradient->base;
  } else {
    leaf.gradient = clone_contiguous(context, gradient);
  }
  context.tape.is(leaf.gradient->storage->id, Role::gradient);
}

/// Sums and casts a gradient to what the node that gets it was made with.
void make_valid(Context& context, Tensor& gradient, const Node::Output& expected) {
  if (!(gradient->sizes == expected.sizes)) gradient = sum_to(context, gradient, expected.sizes);
  if (gradient->type != expected.type) gradient = cast(context, gradient, expected.type);
}

/// The gradients of a node's inputs; what came in and what was saved is gone afterwards.
Gradients run_node(Context& context, Node& node) {
  Gradients incoming = std::move(node.buffer);
  node.buffer.clear();
  Gradients results(node.next.size());
  if (node.leaf) {
    accumulate(context, *node.leaf, std::move(incoming[0]));
    return results;
  }
  node.backward(context, incoming, results);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i] && node.next[i].to) make_valid(context, results[i], node.next[i].to->outputs[node.next[i].input]);
  incoming.clear();
  node.backward = nullptr;
  return results;
}

}  // namespace

Node::~Node() {
  backward = nullptr;
  for (Edge& edge : next)
    if (edge.to) doomed.push_back(std::move(edge.to));
  if (draining) return;
  draining = true;
  while (!doomed.empty()) {
    const Ref<Node> last = std::move(doomed.back());
    doomed.pop_back();
  }
  draining = false;
}

void run_backward(Context& context, const Tensor& root) {
  const GradientMode mode(context, false);
  const AutocastMode cast(context, false);
  note_written(context, "aten::ones_like", static_cast<double>(root->bytes()));
  const Tensor one = context.make(root->sizes, root->type);
  context.in_backward = true;
  count_dependencies(*root->node, ++context.backward_passes);
  std::priority_queue<Node*, std::vector<Node*>, Later> ready;
  root->node->buffer.assign(1, one);
  ready.push(root->node.get());
  const program::ModuleId module = context.tape.module;
  const LayerScope scope(context, 0);
  while (!ready.empty()) {
    Node* node = ready.top();
    ready.pop();
    context.tape.module = node->module;
    context.tape.layer = node->layer;
    Gradients results = run_node(context, *node);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Edge& edge = node->next[i];
      if (!edge.to) continue;
      edge.to->buffer.resize(edge.to->outputs.size());
      if (results[i]) add_to_buffer(context, edge.to->buffer[edge.input], std::move(results[i]));
      if (--edge.to->waits_for == 0) ready.push(edge.to.get());
    }
  }
  context.tape.module = module;
  context.in_backward = false;
}

}  // namespace ullage::lowering
