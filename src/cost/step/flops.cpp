// SPDX-License-Identifier: Apache-2.0
#include "cost/step/flops.hpp"

#include "cost/step/work.hpp"

#include <cstring>

namespace ullage::cost {
namespace {

// Eager attention multiplies in batches, one for each head; weights are never multiplied so.
bool is_of_attention(const program::Operator& op) {
  return op.work == OperatorWork::attention || std::strcmp(op.name, "aten::bmm") == 0;
}

}  // namespace

RuleComparison compare_with_rule(const program::Program& program, const Trained& trained,
                                 std::optional<std::uint32_t> step) {
  RuleComparison result;
  double forward = 0, backward = 0;  // of products with weights
  for_each_operator(program, step, [&](const program::Operator& op, Pass pass) {
    result.counted += op.flops;
    if (pass == Pass::recomputed)
      result.recomputed += op.flops;
    else if (is_of_attention(op))
      result.attention += op.flops;
    else
      (pass == Pass::forward ? forward : backward) += op.flops;
  });
  result.rule = rule_of_thumb_flops(trained.parameters, trained.tokens) / (trained.backward ? 1 : 3);
  result.not_multiplied = (trained.backward ? 3 : 1) * forward - result.rule;
  if (trained.backward) result.not_trained = backward - 2 * forward;
  return result;
}

}  // namespace ullage::cost
