// SPDX-License-Identifier: Apache-2.0
#include "planner/rules.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ullage::planner {
namespace {

constexpr double bytes_a_parameter = 16;

std::string whole(double value) {
  return grouped(static_cast<std::uint64_t>(value));
}

/// States that every rule counts and the setup does not have.
std::vector<std::string> needless_states(const RuleInput& input) {
  const double each = input.states / input.parameters;
  if (!(each < 0.99 * bytes_a_parameter)) return {};
  return {fmt::format("16 bytes a parameter, where the states here have {:.2f}", each)};
}

void add_recomputed(const RuleInput& input, std::vector<std::string>& counts) {
  if (input.checkpoint_every == 1)
    counts.emplace_back("activations of every layer, which checkpointing drops");
  else if (input.checkpoint_every > 1)
    counts.emplace_back("activations of the layers that checkpointing drops");
}

/// What 34 and 5 a s / h stand for: 16-bit multi-head attention that writes its scores, and dropout.
std::vector<std::string> needless_activations(const model::Network& network, const RuleInput& input) {
  std::vector<std::string> counts = needless_states(input);
  add_recomputed(input, counts);
  if (!input.keeps_scores) counts.emplace_back("score matrices, which fused attention does not keep");
  if (network.key_value_heads < network.heads)
    counts.emplace_back("keys and values of every head, where heads share them");
  if (network.attention_dropout == 0 && network.residual_dropout == 0)
    counts.emplace_back("masks of dropout, which the model does not have");
  return counts;
}

std::vector<std::string> needless_layers(const RuleInput& input) {
  std::vector<std::string> counts = needless_states(input);
  add_recomputed(input, counts);
  return counts;
}

}  // namespace

std::vector<Rule> popular_rules(const model::Network& network, const RuleInput& input) {
  const auto hidden = static_cast<double>(network.hidden), layers = static_cast<double>(network.layers);
  const auto heads = static_cast<double>(network.heads);
  const double tokens = input.micro_batch * input.sequence, states = bytes_a_parameter * input.parameters;
  const double misquoted = tokens * hidden * (34 + 5 * layers);
  const double scores = 5 * heads * input.sequence / hidden;
  const double korthikanti = tokens * hidden * (34 + scores) * layers;
  std::vector<Rule> rules{
      {"16 bytes a parameter", fmt::format("16 x {}", whole(input.parameters)), states,
       "activations, and all that comes with them", needless_states(input)},
      {"and b s h (34 + 5 L)", fmt::format("{} x {} x (34 + 5 x {}) more", whole(tokens), whole(hidden), whole(layers)),
       states + misquoted, "the factor of the layers: a misquotation, in which 5 a s / h became 5 L",
       needless_layers(input)},
      {"and s b h (34 + 5 a s / h) L",
       fmt::format("{} x {} x (34 + {:.1f}) x {} more", whole(tokens), whole(hidden), scores, whole(layers)),
       states + korthikanti,
       "logits and loss, fp32 copies, 16-bit copies of weights, temporaries, workspaces, fragmentation",
       needless_activations(network, input)}};
  if (input.checkpoint_every == 1)
    rules.push_back({"and 2 s b h L", fmt::format("2 x {} x {} x {} more", whole(tokens), whole(hidden), whole(layers)),
                     states + 2 * tokens * hidden * layers,
                     "the layer that is recomputed, logits and loss, temporaries, fragmentation",
                     needless_states(input)});
  return rules;
}

}  // namespace ullage::planner
