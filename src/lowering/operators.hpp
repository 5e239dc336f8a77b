// SPDX-License-Identifier: Apache-2.0
// PyTorch's operators on CUDA as they meet memory: what each allocates, in which order, what it saves for the backward
// pass, and what its gradient allocates. Sources: tools/autograd/derivatives.yaml and aten/src/ATen/native of 2.11;
// tests/rehearse/test_plan_program.py compares the requests with those of the real ones, one by one.
#pragma once

#include "lowering/context.hpp"

#include <cstdint>
#include <optional>

namespace ullage::lowering {

// ---- pointwise (pointwise.cpp); results have the strides that TensorIterator gives them
/// An element for each, of broadcast inputs; no graph. Size and strides of the result by TensorIterator.
[[nodiscard]] Tensor pointwise(Context& context, const char* name, std::initializer_list<const Tensor*> inputs,
                               DType type);
[[nodiscard]] DType promoted(const Tensor& left, const Tensor& right);
[[nodiscard]] Tensor add_raw(Context& context, const Tensor& left, const Tensor& right);
void add_in_place(Context& context, const Tensor& into, const Tensor& added);
/// An operator that makes a tensor out of nothing or little: `bytes` are what it reads and writes.
program::Operator& note_written(Context& context, const char* name, double bytes);
/// An operator of one input that has a cost and no result of its own, as zero_() or copy_().
void in_place(Context& context, const char* name, std::initializer_list<const Tensor*> inputs);

[[nodiscard]] Tensor cast(Context& context, const Tensor& tensor, DType type);  ///< Tensor.to
[[nodiscard]] Tensor add(Context& context, const Tensor& left, const Tensor& right);
[[nodiscard]] Tensor mul(Context& context, const Tensor& left, const Tensor& right);
/// With a Python number: nothing is saved.
[[nodiscard]] Tensor add_number(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor mul_number(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor div_number(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor neg(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor pow_number(Context& context, const Tensor& tensor);  ///< any exponent but 0, 1 and tensors
[[nodiscard]] Tensor rsqrt(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor tanh(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor sigmoid(Context& context, const Tensor& tensor);
/// One kernel forward and one backward that saves its input: silu, gelu, relu saves its result.
[[nodiscard]] Tensor silu(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor gelu(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor relu(Context& context, const Tensor& tensor);
/// nn.functional.dropout; with probability 0, or not in training, the tensor itself.
[[nodiscard]] Tensor dropout(Context& context, const Tensor& tensor, double probability);

// ---- views and copies (shape.cpp)
[[nodiscard]] Tensor view(Context& context, const Tensor& tensor, const Extents& sizes);
[[nodiscard]] Tensor reshape(Context& context, const Tensor& tensor, const Extents& sizes);
/// A view that autograd does not know as one: nothing keeps the tensor behind it.
[[nodiscard]] Tensor unsafe_view(Context& context, const Tensor& tensor, const Extents& sizes);
[[nodiscard]] Tensor transpose(Context& context, const Tensor& tensor, std::size_t left, std::size_t right);
[[nodiscard]] Tensor t(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor unsqueeze(Context& context, const Tensor& tensor, std::size_t dimension);
[[nodiscard]] Tensor expand(Context& context, const Tensor& tensor, const Extents& sizes);
/// The front of a dimension; all of it is an alias.
[[nodiscard]] Tensor slice(Context& context, const Tensor& tensor, std::size_t dimension, std::int64_t length);
/// The end of a dimension, which may be nothing.
[[nodiscard]] Tensor rest_of(Context& context, const Tensor& tensor, std::size_t dimension, std::int64_t length);
/// Parts of a dimension, one node for all (split, chunk).
[[nodiscard]] std::vector<Tensor> split(Context& context, const Tensor& tensor, std::size_t dimension,
                                        const std::vector<std::int64_t>& lengths);
[[nodiscard]] Tensor contiguous(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor clone_contiguous(Context& context, const Tensor& tensor);  ///< no graph
[[nodiscard]] Tensor cat(Context& context, const std::vector<Tensor>& tensors, std::size_t dimension);
[[nodiscard]] Tensor zeros(Context& context, const Extents& sizes, DType type);

// ---- reductions (reduction.cpp)
/// Sum over the dimensions of which a bit is set in `over`. No graph.
[[nodiscard]] Tensor sum_raw(Context& context, const Tensor& tensor, unsigned over, bool keep,
                             const char* name = "aten::sum");
/// Sum that brings a gradient back to the sizes before a broadcast.
[[nodiscard]] Tensor sum_to(Context& context, const Tensor& tensor, const Extents& sizes);
/// How many flags of bool are set. No graph.
[[nodiscard]] Tensor count_raw(Context& context, const Tensor& flags);
/// argmax of the last dimension: int64.
[[nodiscard]] Tensor argmax_last(Context& context, const Tensor& tensor);
[[nodiscard]] Tensor mean_last(Context& context, const Tensor& tensor);

// ---- products (matmul.cpp)
[[nodiscard]] Tensor mm(Context& context, const Tensor& left, const Tensor& right);
/// nn.Linear: weight [out, in]; `bias` may be empty. Under autocast in its type.
[[nodiscard]] Tensor linear(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias);
/// The tensor in the type of autocast, where that is on; leaves that are trained are kept in its cache.
[[nodiscard]] Tensor autocast(Context& context, const Tensor& tensor);
/// torch.addmm(bias, input, weight) of transformers' Conv1D: weight [in, out].
[[nodiscard]] Tensor conv1d(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias);
/// torch.matmul of two tensors of four dimensions.
[[nodiscard]] Tensor matmul(Context& context, const Tensor& left, const Tensor& right);

// ---- the rest (network.cpp, attention.cpp)
[[nodiscard]] Tensor embedding(Context& context, const Tensor& indices, const Tensor& weight);
[[nodiscard]] Tensor layer_norm(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias);
/// Softmax of the last dimension; `type` is that of the result, fp32 for softmax(dtype=float32).
[[nodiscard]] Tensor softmax(Context& context, const Tensor& input, DType type);
/// transformers' ForCausalLMLoss.
[[nodiscard]] Tensor causal_loss(Context& context, Tensor logits, Tensor labels);
struct AttentionOptions {
  Tensor mask;         ///< of bool; empty for none
  bool causal = true;  ///< where there is no mask
  double dropout = 0;
  bool flash_alone = false;  ///< sdpa_kernel(FLASH_ATTENTION); flash_refusal says that it can
};
/// What decides whether FlashAttention can run.
struct FlashInput {
  DType type = DType::fp32;
  std::int64_t width = 0;  ///< of a head
  bool masked = false, gradients = false, drops = false;
};
/// Why PyTorch does not take FlashAttention, and what it would take.
struct FlashRefusal {
  const char* reason = "";
  const char* allowed = "";
};
[[nodiscard]] std::optional<FlashRefusal> flash_refusal(const DeviceFacts& device, const FlashInput& input);
/// torch.nn.functional.scaled_dot_product_attention of [batch, heads, tokens, width]; fewer key heads with enable_gqa.
[[nodiscard]] Tensor scaled_dot_product_attention(Context& context, Tensor query, Tensor key, Tensor value,
                                                  const AttentionOptions& options);

}  // namespace ullage::lowering
