// SPDX-License-Identifier: Apache-2.0
// Internal to the reader of out-of-memory texts: the wordings, on text in lower case without any white space, so that a
// line break may stand anywhere, even inside a number.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/oom_message/oom_message.hpp"

namespace ullage::ingest {

/// Where a message may begin in squeezed text.
struct OomStart {
  std::size_t begin = 0;    ///< of the first word that belongs to it
  std::size_t trigger = 0;  ///< of the words by which it was found
  std::size_t after = 0;    ///< behind them
};

/// The longest text of one message, squeezed, its advice included.
inline constexpr std::size_t oom_text_bytes = 2600;
/// What must be kept of a text without a message, so that one that begins there is found later.
inline constexpr std::size_t oom_tail_bytes = 96;

/// The first place at or after `from` where a message begins.
std::optional<OomStart> find_oom(std::string_view squeezed, std::size_t from);

/// Reads the message that begins there; nothing when it is none (the class name OutOfMemoryError, a killed process).
/// `end` becomes the place behind what was read.
std::optional<OomMessage> parse_oom(std::string_view squeezed, const OomStart& start, std::size_t& end);

}  // namespace ullage::ingest
