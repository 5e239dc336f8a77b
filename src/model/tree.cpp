// SPDX-License-Identifier: Apache-2.0
#include "model/tree.hpp"

#include "base/bytes.hpp"

#include <utility>

namespace ullage::model {
namespace {

/// Product of the dimensions; more than most_elements for everything that is too large.
Size elements_of(const std::vector<Size>& shape) {
  Size product = 1;
  for (const Size dimension : shape) product = checked_multiply(product, dimension).value_or(most_elements + 1);
  return product;
}

tl::unexpected<Error> too_large(const std::string& what) {
  return fail(ErrorKind::bad_input, "the model has more parameters than any machine can hold", what,
              "at most 2^56 elements", "one of the sizes in the configuration is wrong");
}

/// Adds a group's elements to `sum`.
Result<Size> added(Size sum, const Group& group) {
  for (const Parameter& parameter : group.parameters) {
    if (parameter.elements > most_elements) return too_large(full_name(group, parameter, "*"));
    const auto all = checked_multiply(parameter.elements, group.repeat);
    if (!all || *all > most_elements) return too_large(full_name(group, parameter, "*"));
    if (parameter.tied_to.empty()) sum += *all;
    if (sum > most_elements) return too_large(full_name(group, parameter, "*"));
  }
  return sum;
}

}  // namespace

void Module::add(std::string_view module, std::string_view parameter, std::vector<Size> shape, std::string_view owner) {
  const std::string name = std::string(module) + (module.empty() ? "" : ".") + std::string(parameter);
  const Size elements = elements_of(shape);
  group_.parameters.push_back({name, std::move(shape), elements, std::string(owner)});
}

void Module::embedding(std::string_view name, Size rows, Size width) {
  add(name, "weight", {rows, width});
}

void Module::linear(std::string_view name, Size in, Size out, bool bias) {
  add(name, "weight", {out, in});
  if (bias) add(name, "bias", {out});
}

void Module::conv1d(std::string_view name, Size in, Size out) {
  add(name, "weight", {in, out});
  add(name, "bias", {out});
}

void Module::layer_norm(std::string_view name, Size size, bool affine) {
  if (!affine) return;
  add(name, "weight", {size});
  add(name, "bias", {size});
}

void Module::rms_norm(std::string_view name, Size size) {
  add(name, "weight", {size});
}

void Module::tied(std::string_view name, std::vector<Size> shape, std::string_view owner) {
  add(name, "weight", std::move(shape), owner);
}

Group& Tree::group(std::string_view name, bool layers, Size repeat) {
  return model_.groups.emplace_back(Group{std::string(name), layers, repeat, {}});
}

void Tree::layer_norm(std::string_view name, Size size, bool affine) {
  if (affine) top(name).layer_norm("", size);
}

void Tree::head(std::string_view name, Size in, Size out, bool tied, std::string_view embedding) {
  if (tied) return top(name).tied("", {out, in}, std::string(embedding) + ".weight");
  linear(name, in, out, false);
}

void Tree::buffer(std::string_view name, Size elements, bool always_fp32) {
  model_.buffers.push_back({std::string(name), elements, always_fp32});
}

Result<Model> Tree::finish() && {
  Size sum = 0;
  for (const Group& group : model_.groups) {
    const auto next = added(sum, group);
    if (!next) return tl::unexpected(next.error());
    sum = *next;
  }
  return std::move(model_);
}

}  // namespace ullage::model
