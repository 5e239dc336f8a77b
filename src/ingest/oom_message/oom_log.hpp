// SPDX-License-Identifier: Apache-2.0
// Finds the out-of-memory texts of a log: every wording since torch 1.0, several messages and ranks, lines broken
// anywhere, the prefixes of launchers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ingest/file/source.hpp"
#include "ingest/oom_message/oom_message.hpp"
#include "ingest/oom_message/stated_dimensions.hpp"

namespace ullage::ingest {

struct OomLog {
  std::vector<OomMessage> messages;  ///< in the order of the log; a repeated message stands once
  StatedDimensions stated;           ///< of the model and the batch
  std::string script;                ///< the file that the first traceback begins in; empty without one
  std::uint64_t lines = 0, bytes = 0;
  std::uint64_t not_kept = 0;   ///< different messages beyond the limit
  std::optional<Error> damage;  ///< where a compressed log broke off; what came before was read
};

/// Whether the first bytes look like text: no control characters but white space and colour codes.
bool looks_like_text(std::string_view head);

/// Reads a log to its end. Memory does not grow with the log. Never fails: a log without a message has none.
OomLog read_oom_log(Source& source);

}  // namespace ullage::ingest
