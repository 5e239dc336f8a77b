// SPDX-License-Identifier: Apache-2.0
// Building a Model the way a module tree is written down: embeddings, layers, norms, head, in their order.
#pragma once

#include "base/result.hpp"
#include "model/description.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ullage::model {

using Size = std::uint64_t;

/// Adds parameters to one group. Names are those of the modules: `self_attn.q_proj` becomes `self_attn.q_proj.weight`.
class Module {
 public:
  explicit Module(Group& group) : group_(group) {}

  void embedding(std::string_view name, Size rows, Size width);      ///< nn.Embedding: [rows, width]
  void linear(std::string_view name, Size in, Size out, bool bias);  ///< nn.Linear: [out, in], bias [out]
  void conv1d(std::string_view name, Size in, Size out);             ///< transformers' Conv1D: [in, out], bias [out]
  void layer_norm(std::string_view name, Size size, bool affine = true);  ///< weight and bias, or nothing
  void rms_norm(std::string_view name, Size size);                        ///< weight alone
  void tied(std::string_view name, std::vector<Size> shape, std::string_view owner);

 private:
  void add(std::string_view module, std::string_view parameter, std::vector<Size> shape, std::string_view owner = {});
  Group& group_;
};

/// The top level of a model.
class Tree {
 public:
  explicit Tree(std::string_view architecture) { model_.architecture = architecture; }

  void embedding(std::string_view name, Size rows, Size width) { top(name).embedding("", rows, width); }
  void linear(std::string_view name, Size in, Size out, bool bias) { top(name).linear("", in, out, bias); }
  void layer_norm(std::string_view name, Size size, bool affine = true);
  void rms_norm(std::string_view name, Size size) { top(name).rms_norm("", size); }
  /// `repeat` identical layers `name.0`, `name.1` ...; `build` is called once, with the Module of one layer.
  template <class Build>
  void layers(std::string_view name, Size repeat, Build build) {
    Module layer(group(name, true, repeat));
    build(layer);
  }
  /// The output projection without a bias; of the embedding's storage when `tied`.
  void head(std::string_view name, Size in, Size out, bool tied, std::string_view embedding);
  /// What the forward pass needs beside parameters.
  [[nodiscard]] Network& network() { return model_.network; }
  void buffer(std::string_view name, Size elements, bool always_fp32 = true);

  /// The model. Errors: `bad_input` when a tensor, or all together, have more than 2^56 elements.
  [[nodiscard]] Result<Model> finish() &&;

 private:
  Group& group(std::string_view name, bool layers, Size repeat);
  Module top(std::string_view name) { return Module(group(name, false, 1)); }
  Model model_;
};

}  // namespace ullage::model
