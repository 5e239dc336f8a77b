// SPDX-License-Identifier: Apache-2.0
// The cache of the Hugging Face hub on this machine, as huggingface_hub lays it out.
#pragma once

#include <optional>
#include <string>

namespace ullage::model {

/// True for what can be an id of the hub: NAME or ORG/NAME of letters, digits, `-`, `_` and `.`.
[[nodiscard]] bool is_hub_id(const std::string& name);

/// The cache's folder: HF_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME/huggingface/hub, else
/// ~/.cache/huggingface/hub; empty when none of them is set.
[[nodiscard]] std::string hub_cache_folder();

/// The path of the newest config.json of that id: of the commit that refs/main names, else of the last snapshot by
/// name.
[[nodiscard]] std::optional<std::string> find_in_hub_cache(const std::string& id);

}  // namespace ullage::model
