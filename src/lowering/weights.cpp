// SPDX-License-Identifier: Apache-2.0
#include "lowering/weights.hpp"

namespace ullage::lowering {
namespace {

Tensor parameter(Context& context, const model::Parameter& described, DType type, bool trained) {
  Extents sizes;
  for (const std::uint64_t size : described.shape) sizes.push(static_cast<std::int64_t>(size));
  context.op("aten::empty");
  Tensor made = context.make(sizes, type, program::Role::parameter);
  made->requires_grad = trained;
  return made;
}

}  // namespace

Weights::Weights(Context& context, const model::Model& model, DType type, const std::vector<bool>& frozen,
                 const std::function<void()>& before_head) {
  std::size_t number = 0;
  const auto make = [&](const model::Parameter& described) {
    const bool trained = number >= frozen.size() || !frozen[number];
    ++number;
    all_.push_back(parameter(context, described, type, trained));
    return all_.back();
  };
  for (const model::Group& group : model.groups) {
    if (&group == &model.groups.back()) before_head();
    if (group.layers) {
      make_layers(context, group, make);
      continue;
    }
    for (const model::Parameter& described : group.parameters) {
      const std::string name = model::full_name(group, described, {});
      if (described.tied_to.empty()) {
        top_.push_back({name, make(described)});
        continue;
      }
      (void)parameter(context, described, type, true);  // built, and dropped when it is tied
      ++number;
      top_.push_back({name, top(described.tied_to)});
    }
    for (const model::Buffer& buffer : model.buffers)
      if (buffer.name == group.name + ".embed_scale")
        scale_ = context.make({}, buffer.always_fp32 ? DType::fp32 : type, program::Role::buffer);
  }
}

void Weights::make_layers(Context& context, const model::Group& group,
                          const std::function<Tensor(const model::Parameter&)>& make) {
  list_name_ = group.name.substr(group.name.rfind('.') + 1);
  for (const model::Parameter& described : group.parameters) names_.push_back(described.name);
  for (std::uint64_t layer = 0; layer < group.repeat; ++layer) {
    const LayerScope scope(context, static_cast<program::LayerNumber>(layer + 1));
    layers_.emplace_back();
    for (const model::Parameter& described : group.parameters) layers_.back().push_back(make(described));
  }
}

Tensor Weights::top(std::string_view name) const {
  for (const Named& named : top_)
    if (named.name == name) return named.tensor;
  return {};
}

Tensor Weights::layer(std::size_t index, std::string_view name) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) return layers_[index][i];
  return {};
}

}  // namespace ullage::lowering
