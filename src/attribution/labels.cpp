// SPDX-License-Identifier: Apache-2.0
#include "attribution/labels.hpp"

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

std::optional<Category> category_of(std::string_view id) {
  for (std::size_t i = 0; i < categories; ++i) {
    if (id == id_of(static_cast<Category>(i))) return static_cast<Category>(i);
  }
  return std::nullopt;
}

const char* name_of(PhaseName name) {
  constexpr const char* names[] = {"load", "forward", "backward", "optimizer", "other", "run"};
  return names[static_cast<std::size_t>(name)];
}

}  // namespace ullage::attribution
