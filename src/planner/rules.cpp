// SPDX-License-Identifier: Apache-2.0
#include "planner/rules.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ullage::planner {
namespace {

std::string whole(double value) {
  return grouped(static_cast<std::uint64_t>(value));
}

}  // namespace

std::vector<Rule> popular_rules(const model::Network& network, const RuleInput& input) {
  const auto hidden = static_cast<double>(network.hidden), layers = static_cast<double>(network.layers);
  const auto heads = static_cast<double>(network.heads);
  const double tokens = input.micro_batch * input.sequence, states = 16 * input.parameters;
  const double misquoted = tokens * hidden * (34 + 5 * layers);
  const double scores = 5 * heads * input.sequence / hidden;
  const double korthikanti = tokens * hidden * (34 + scores) * layers;
  std::vector<Rule> rules{
      {"16 bytes a parameter", fmt::format("16 x {}", whole(input.parameters)), states,
       "activations, and all that comes with them"},
      {"and b s h (34 + 5 L)", fmt::format("{} x {} x (34 + 5 x {}) more", whole(tokens), whole(hidden), whole(layers)),
       states + misquoted, "a misquotation: the factor of the layers is gone, and 5 a s / h became 5 L"},
      {"and s b h (34 + 5 a s / h) L",
       fmt::format("{} x {} x (34 + {:.1f}) x {} more", whole(tokens), whole(hidden), scores, whole(layers)),
       states + korthikanti,
       "logits and loss, fp32 copies, 16-bit copies of weights, temporaries, workspaces, fragmentation"}};
  if (input.checkpoint)
    rules.push_back({"and 2 s b h L", fmt::format("2 x {} x {} x {} more", whole(tokens), whole(hidden), whole(layers)),
                     states + 2 * tokens * hidden * layers,
                     "the layer that is recomputed, logits and loss, temporaries, fragmentation"});
  return rules;
}

}  // namespace ullage::planner
