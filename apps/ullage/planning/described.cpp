// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/described.hpp"

#include "model/families.hpp"
#include "model/source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

/// " with --layers 16", where the sizes are not all the model's own.
std::string sizes_text(const PlanOptions& options) {
  std::string text;
  for (std::size_t i = 0; i < options.sizes.size(); ++i)
    if (options.sizes[i] && options.family.empty())
      text += fmt::format("{}--{} {}", text.empty() ? "; with " : " ", size_flags[i], *options.sizes[i]);
  return text;
}

Result<model::Model> read_model(const PlanOptions& options, const model::Source& source, const model::Sizes& sizes) {
  const bool own = std::ranges::any_of(sizes, [](const auto& size) { return size.has_value(); });
  return model::describe(source.json, source.where, sizes).map_error([&](Error error) {
    if (own || !options.family.empty()) error.kind = ErrorKind::usage;
    return error;
  });
}

/// A model of a file has the positions that it has; one that the sizes make has as many as are asked for.
Result<model::Model> model_of(const PlanOptions& options, model::Source source, const model::Sizes& sizes) {
  auto model = read_model(options, source, sizes);
  const std::uint64_t longest = options.longest_sequence;
  if (!model || options.family.empty() || model->network.positions == 0 || model->network.positions >= longest)
    return model;
  source.json = model::bare_config(options.family, longest);
  return read_model(options, source, sizes).map([&](model::Model longer) {
    longer.assumed.push_back(fmt::format("positions = {} (as long as the sequence)", longest));
    return longer;
  });
}

}  // namespace

Result<Described> described(const PlanOptions& options) {
  if (options.parameters) return Described{model::nominal_model(*options.parameters), {}, {}};
  const auto source = options.family.empty()
                          ? model::find_source(options.model)
                          : model::Source{model::bare_config(options.family), "a model of these sizes",
                                          "the sizes of the command line, and transformers' defaults"};
  if (!source) return tl::unexpected(source.error());
  return model_of(options, *source, options.sizes).map([&](model::Model model) {
    return Described{std::move(model), source->origin + sizes_text(options), *source};
  });
}

Result<model::Model> with_layers(const PlanOptions& options, const Described& found, std::uint64_t layers) {
  model::Sizes sizes = options.sizes;
  sizes[static_cast<std::size_t>(model::SizeOf::layers)] = layers;
  return model_of(options, found.source, sizes);
}

Result<model::Model> with_sequence(const PlanOptions& options, const Described& found, std::uint64_t sequence) {
  if (options.family.empty()) return found.model;
  PlanOptions longer = options;
  longer.longest_sequence = sequence;
  return model_of(longer, found.source, options.sizes);
}

}  // namespace ullage::cli
