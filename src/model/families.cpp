// SPDX-License-Identifier: Apache-2.0
#include "model/families.hpp"

#include "base/text.hpp"
#include "model/common_fields.hpp"

#include <algorithm>
#include <vector>

namespace ullage::model {
namespace {

constexpr Family table[] = {{"gemma2", gemma2}, {"gpt2", gpt2},       {"gpt_neox", gpt_neox},
                            {"llama", llama},   {"mistral", mistral}, {"opt", opt},
                            {"phi3", phi3},     {"qwen2", qwen2},     {"qwen3", qwen3}};

tl::unexpected<Error> unknown_family(Config& config, const std::string& type) {
  std::vector<std::string_view> names;
  std::string allowed = "one of";
  for (const Family& family : table) {
    names.push_back(family.model_type);
    allowed += " " + std::string(family.model_type);
  }
  config.refuse("model_type", "'" + printable(type.substr(0, 60), false) + "' is no family that can be planned",
                allowed, suggestion(type, names));
  return tl::unexpected(*config.error());
}

}  // namespace

std::span<const Family> families() {
  return table;
}

Result<Model> describe(std::string_view json, std::string where, const Sizes& sizes) {
  auto config = Config::parse(json, std::move(where));
  if (!config) return tl::unexpected(config.error());
  const auto type = config->text("model_type");
  if (!type)
    config->refuse("model_type", config->is_null("model_type") ? "null is not a text" : "missing",
                   "the model's family, such as llama");
  if (config->error()) return tl::unexpected(*config->error());
  const auto family = std::ranges::find(table, *type, &Family::model_type);
  if (family == std::end(table)) return unknown_family(*config, *type);
  replace_sizes(*config, family->model_type, sizes);
  auto model = family->describe(*config);
  check_common_fields(*config);
  if (config->error()) return tl::unexpected(*config->error());
  if (!model) {
    model.error().where = config->where() + ", " + model.error().where;
    return model;
  }
  model->model_type = *type;
  model->assumed = config->assumed();
  model->ignored = config->ignored();
  return model;
}

}  // namespace ullage::model
