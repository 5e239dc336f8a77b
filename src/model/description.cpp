// SPDX-License-Identifier: Apache-2.0
#include "model/description.hpp"

namespace ullage::model {

std::string full_name(const Group& group, const Parameter& parameter, const std::string& index) {
  return group.name + "." + (group.layers ? index + "." : "") + parameter.name;
}

std::uint64_t parameter_count(const Group& group) {
  std::uint64_t sum = 0;
  for (const Parameter& parameter : group.parameters) sum += parameter.tied_to.empty() ? parameter.elements : 0;
  return sum * group.repeat;
}

std::uint64_t parameter_count(const Model& model) {
  std::uint64_t sum = 0;
  for (const Group& group : model.groups) sum += parameter_count(group);
  return sum;
}

void for_each_parameter(const Model& model,
                        const std::function<void(const Group&, std::uint64_t, const Parameter&)>& visit) {
  for (const Group& group : model.groups)
    for (std::uint64_t index = 0; index < group.repeat; ++index)
      for (const Parameter& parameter : group.parameters) visit(group, index, parameter);
}

Model nominal_model(std::uint64_t parameters) {
  Model model;
  model.groups.push_back({"all", false, 1, {{"parameters", {parameters}, parameters, {}}}});
  return model;
}

}  // namespace ullage::model
