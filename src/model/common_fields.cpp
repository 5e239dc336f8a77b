// SPDX-License-Identifier: Apache-2.0
#include "model/common_fields.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

namespace ullage::model {
namespace {

constexpr std::string_view numbers[] = {
    "attn_pdrop",           "classifier_dropout", "dropout",        "embd_pdrop", "hidden_dropout", "init_std",
    "initializer_range",    "layer_norm_epsilon", "layer_norm_eps", "layerdrop",  "resid_pdrop",    "rms_norm_eps",
    "summary_first_dropout"};
constexpr std::string_view flags[] = {"is_decoder",
                                      "is_encoder_decoder",
                                      "reorder_and_upcast_attn",
                                      "scale_attn_by_inverse_layer_idx",
                                      "scale_attn_weights",
                                      "summary_proj_to_labels",
                                      "summary_use_proj",
                                      "use_cache",
                                      "use_parallel_residual",
                                      "use_sliding_window"};
constexpr std::string_view whole_numbers[] = {"chunk_size_feed_forward", "max_position_embeddings", "max_window_layers",
                                              "original_max_position_embeddings", "query_pre_attn_scalar"};
/// These may be null.
constexpr std::string_view nullable_whole_numbers[] = {"bos_token_id", "pad_token_id", "pretraining_tp",
                                                       "sliding_window"};
constexpr std::string_view nullable_numbers[] = {"attention_dropout", "rope_theta"};
constexpr std::string_view activation_fields[] = {"activation_function", "hidden_act", "hidden_activation"};
/// transformers' activations without parameters of their own (`prelu` and `xielu` have some).
constexpr std::string_view activations[] = {"gelu",
                                            "gelu_10",
                                            "gelu_fast",
                                            "gelu_new",
                                            "gelu_python",
                                            "gelu_pytorch_tanh",
                                            "gelu_python_tanh",
                                            "gelu_accurate",
                                            "hardswish",
                                            "laplace",
                                            "leaky_relu",
                                            "linear",
                                            "mish",
                                            "quick_gelu",
                                            "relu",
                                            "relu2",
                                            "relu6",
                                            "sigmoid",
                                            "silu",
                                            "sqrtsoftplus",
                                            "swish",
                                            "tanh"};

void check_all(Config& config, std::span<const std::string_view> fields, FieldType type, bool null_allowed) {
  for (const std::string_view field : fields) {
    config.check_type(field, {type});
    if (!null_allowed && config.is_null(field))
      config.refuse(field, "null is of the wrong type", "a value, or no such field");
  }
}

void check_activation(Config& config, std::string_view field) {
  config.check_type(field, {FieldType::text});
  if (config.error()) return;
  const auto name = config.peek_text(field);
  if (!name || std::ranges::find(activations, *name) != std::end(activations)) return;
  config.refuse(field,
                fmt::format("the activation '{}' is not known, or has parameters of its own",
                            printable(name->substr(0, 40), false)),
                "an activation of transformers, such as gelu_new or silu", suggestion(*name, activations));
}

/// What changes the parameters and is not described.
void check_not_described(Config& config) {
  for (const std::string_view field : {"per_layer_config", "quantization_config"})
    if (config.has(field) && !config.is_null(field))
      config.refuse(field, "its effect on the parameters is not described", "a configuration without it",
                    "take the field out, if the model is to be planned without it");
}

}  // namespace

void check_common_fields(Config& config) {
  check_all(config, numbers, FieldType::number, false);
  check_all(config, flags, FieldType::boolean, false);
  check_all(config, whole_numbers, FieldType::whole, false);
  check_all(config, nullable_whole_numbers, FieldType::whole, true);
  check_all(config, nullable_numbers, FieldType::number, true);
  config.check_type("eos_token_id", {FieldType::whole, FieldType::list});
  for (const std::string_view field : activation_fields) check_activation(config, field);
  check_not_described(config);
}

}  // namespace ullage::model
