// SPDX-License-Identifier: Apache-2.0
// Command lines that are written down hold no secrets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ullage {

/// `--hf-token`, `wandb.api_key`, `DB_PASSWORD`: a name of which a word ends in token or key, or which contains secret,
/// passw or credential. Not `--tokenizer`, `--max-tokens`.
[[nodiscard]] bool names_a_secret(std::string_view name);

/// The words of a command, with *** for the value of each argument whose name says that it is secret: `--token VALUE`,
/// `--token=VALUE`, `token=VALUE`.
[[nodiscard]] std::vector<std::string> without_secrets(std::vector<std::string> command);

}  // namespace ullage
