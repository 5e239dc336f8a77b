// SPDX-License-Identifier: Apache-2.0
// The Hugging Face hub over HTTP(S). libcurl is loaded when it is needed, so that a plan without the hub neither needs
// it nor waits for it.
#pragma once

#include "base/result.hpp"

#include <string>

namespace ullage::model {

/// A file that was fetched.
struct Fetched {
  std::string text;
  std::string url;
};

/// True when HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids to ask the hub.
[[nodiscard]] bool hub_is_forbidden();

/// config.json of the main revision of `id`, from HF_ENDPOINT (else huggingface.co), with the token HF_TOKEN if there
/// is one. The token goes to that host alone, whatever redirects say. Errors: `usage` when the hub does not know the
/// id; `io` for the network, a refused token, an answer that is too large or too slow; `unsupported` without libcurl.
[[nodiscard]] Result<Fetched> fetch_config(const std::string& id);

}  // namespace ullage::model
