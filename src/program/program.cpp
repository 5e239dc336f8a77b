// SPDX-License-Identifier: Apache-2.0
#include "program/program.hpp"

namespace ullage::program {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::load:
      return "load";
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
    case Phase::other:
      return "other";
  }
  return "other";
}

ModuleId Program::module(ModuleId parent, std::string_view name) {
  std::string key = std::to_string(parent) + '.' + std::string(name);
  const auto [found, is_new] = children_.try_emplace(std::move(key), static_cast<ModuleId>(modules.size()));
  if (is_new) modules.push_back({parent, std::string(name)});
  return found->second;
}

std::string Program::module_path(ModuleId module) const {
  if (module == 0) return {};
  const std::string above = module_path(modules[module].parent);
  return above.empty() ? modules[module].name : above + '.' + modules[module].name;
}

}  // namespace ullage::program
