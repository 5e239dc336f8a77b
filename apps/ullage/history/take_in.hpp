// SPDX-License-Identifier: Apache-2.0
// The history as commands read it: with the recordings that ended since the last one did.
#pragma once

#include "store/store.hpp"

#include <filesystem>
#include <optional>

namespace ullage::cli {

/// Gives the ended recording in a folder (of several ranks: the first) its result, which puts it into the store. What
/// has a result, is none or whose process still writes is passed over.
void take_in_recording(const std::filesystem::path& folder);

/// The same of all in the runs directory that the store does not know; of none where there is no history.
void take_in_recordings();

/// open_store() after that. Errors: `io`.
[[nodiscard]] Result<std::optional<store::Store>> open_history();

}  // namespace ullage::cli
