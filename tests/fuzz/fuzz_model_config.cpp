// SPDX-License-Identifier: Apache-2.0
// Any bytes as a config.json: a model within its limits whose states add up, or an error that says something.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/families.hpp"
#include "planner/states.hpp"

namespace {

using namespace ullage;

void check_states(const model::Model& model) {
  planner::Training training;
  training.precision = setup::find_precision("fp16-master", "megatron").value();
  training.optimizer = setup::find_optimizer("adamw").value();
  training.ranks = 7, training.zero = 1;
  const auto states = planner::states_of(model, training);
  if (!states) std::abort();
  std::uint64_t sum = 0;
  for (const ledger::Line& line : states->lines) {
    if (!ledger::check(line).empty()) std::abort();
    sum += line.bytes;
  }
  if (sum != states->bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto model = model::describe(json, "fuzz");
  if (!model && model.error().what.empty()) std::abort();
  if (!model) return 0;
  if (model::parameter_count(*model) > model::most_elements) std::abort();
  check_states(*model);
  return 0;
}
