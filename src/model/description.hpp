// SPDX-License-Identifier: Apache-2.0
// A model as its parameters and buffers: names and shapes as transformers gives them, in the order of its module tree.
#pragma once

#include "model/network.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ullage::model {

/// A parameter. Its name is relative to the group that it stands in.
struct Parameter {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 0;
  std::string tied_to;  ///< full name of the parameter whose storage this is; empty for one of its own
};

/// A buffer: a tensor that is no parameter and gets no gradient.
struct Buffer {
  std::string name;
  std::uint64_t elements = 0;
  bool always_fp32 = true;  ///< else of the weights' dtype
};

/// Parameters of one module of the top level, or of one layer that the model repeats.
struct Group {
  std::string name;  ///< model.embed_tokens; model.layers
  bool layers = false;
  std::uint64_t repeat = 1;  ///< how many identical layers; 1 where `layers` is false
  std::vector<Parameter> parameters;
};

struct Model {
  std::string model_type;    ///< as in config.json: llama; empty for a bare count of parameters
  std::string architecture;  ///< LlamaForCausalLM
  std::vector<Group> groups;
  std::vector<Buffer> buffers;
  Network network;
  std::vector<std::string> assumed;  ///< fields that were missing, with the value taken: "head_dim = 128"
  std::vector<std::string> ignored;  ///< fields of the file that say nothing about parameters
};

/// `model.layers.3.mlp.up_proj.weight`; with `index` as text, so that `*` can stand for every layer.
[[nodiscard]] std::string full_name(const Group& group, const Parameter& parameter, const std::string& index);

/// Elements of all parameters, shared ones once. Models are built so that this fits 2^56.
[[nodiscard]] std::uint64_t parameter_count(const Model& model);
/// Elements of one group, all its layers together, shared ones not counted.
[[nodiscard]] std::uint64_t parameter_count(const Group& group);

/// Calls `visit` for every parameter of every layer, in order.
void for_each_parameter(const Model& model,
                        const std::function<void(const Group&, std::uint64_t index, const Parameter&)>& visit);

/// A model of which only the number of parameters is known.
[[nodiscard]] Model nominal_model(std::uint64_t parameters);

/// The most elements that a model may have, far beyond any that exists: sums of its bytes then fit 64 bits.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 56;

}  // namespace ullage::model
