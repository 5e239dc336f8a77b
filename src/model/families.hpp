// SPDX-License-Identifier: Apache-2.0
// The model families by the `model_type` of their config.json. Each is one file of family/. Fields, defaults and
// refusals are those of transformers 5.24.
#pragma once

#include "base/result.hpp"
#include "model/config.hpp"
#include "model/description.hpp"
#include "model/sizes.hpp"

#include <span>
#include <string_view>

namespace ullage::model {

struct Family {
  std::string_view model_type;
  Result<Model> (*describe)(Config& config);  ///< errors of fields stay in `config`
};

/// All families, in the order of their names.
[[nodiscard]] std::span<const Family> families();

/// The model of a config.json. Errors: `bad_input` naming the field and what is allowed; an unknown family names the
/// nearest known ones. `where` is the file or place, for errors. The sizes
/// stand in for those of the file.
[[nodiscard]] Result<Model> describe(std::string_view json, std::string where, const Sizes& sizes = {});

Result<Model> gemma2(Config& config);
Result<Model> gpt2(Config& config);
Result<Model> gpt_neox(Config& config);
Result<Model> llama(Config& config);
Result<Model> mistral(Config& config);
Result<Model> opt(Config& config);
Result<Model> phi3(Config& config);
Result<Model> qwen2(Config& config);
Result<Model> qwen3(Config& config);

}  // namespace ullage::model
