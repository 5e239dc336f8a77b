// SPDX-License-Identifier: Apache-2.0
// Which rehearsal of the history a recording is held against when none is named.
#pragma once

#include "base/result.hpp"
#include "store/record.hpp"

#include <optional>
#include <string>

namespace ullage::cli {

struct MatchingRehearsal {
  std::string id;
  std::string why;  ///< for a note: which it is, and how near
};

/// Of the latest rehearsals of the same script, the one whose arguments differ least; of those the newest. Nothing for
/// what is no recording, or has no such rehearsal. Errors: those of the store.
[[nodiscard]] Result<std::optional<MatchingRehearsal>> matching_rehearsal(const store::Record& recording);

}  // namespace ullage::cli
