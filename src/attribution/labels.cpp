// SPDX-License-Identifier: Apache-2.0
#include "attribution/labels.hpp"

#include <algorithm>

#include "attribution/facts.hpp"

namespace ullage::attribution {

const char* name_of(AttributedBy attributed_by) {
  constexpr const char* names[] = {"", "named", "module", "frames", "lifetime", "size", "annotation"};
  return names[static_cast<std::size_t>(attributed_by)];
}

const char* id_of(Category category) {
  constexpr const char* ids[categories] = {"parameters",    "gradients",   "optimizer_state",
                                           "communication", "workspaces",  "inputs",
                                           "activations",   "temporaries", "unattributed"};
  return ids[static_cast<std::size_t>(category)];
}

const char* name_of(Category category) {
  if (category == Category::optimizer_state) return "optimizer state";
  if (category == Category::workspaces) return "library workspaces";
  if (category == Category::unattributed) return "[unattributed]";
  return id_of(category);
}

bool is_communication_file(std::string_view file) {
  return file.find("/torch/distributed/") != file.npos || file.find("/torch/nn/parallel/") != file.npos;
}

const char* name_of(PhaseName name) {
  constexpr const char* names[] = {"load", "forward", "backward", "optimizer", "other", "run"};
  return names[static_cast<std::size_t>(name)];
}

std::size_t phase_at(std::span<const PhaseSpan> phases, std::size_t event) {
  const auto after = std::ranges::upper_bound(phases, event, {}, &PhaseSpan::begin);
  return after == phases.begin() ? 0 : static_cast<std::size_t>(after - phases.begin()) - 1;
}

}  // namespace ullage::attribution
