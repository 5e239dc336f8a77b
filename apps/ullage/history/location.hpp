// SPDX-License-Identifier: Apache-2.0
// Where the history of runs is kept.
#pragma once

#include "apps/ullage/flags.hpp"
#include "store/store.hpp"

#include <optional>
#include <string>

namespace ullage::cli {

/// The flag of every command that reads or writes the history.
inline constexpr Flag store_flag{"store", "FILE", "the history of runs (or ULLAGE_STORE; none: no history)",
                                 FlagKind::text};

/// Lets --store and --no-store, where a command has them and they were given, stand for ULLAGE_STORE.
void choose_store(const Arguments& arguments);

/// ULLAGE_STORE, else `ullage/store.db` in XDG_DATA_HOME or ~/.local/share; empty when there is to be no history.
[[nodiscard]] std::string store_path();

/// The store; nothing when there is to be none, or when the file is not there. Errors: `io`.
[[nodiscard]] Result<std::optional<store::Store>> open_store();

/// The same, made where it is not there. Errors: also `usage`, when there is to be none.
[[nodiscard]] Result<store::Store> make_store();

}  // namespace ullage::cli
