// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/segments.hpp"

#include <string>
#include <string_view>

namespace ullage::report {

/// A segment as a bar of 32 characters, each an equal part of it: the letter of the category that has most bytes in the
/// part, a small one where less than half of the part is used, `~` where what waits for another stream has most, `.`
/// where all is free.
[[nodiscard]] std::string segment_bar(const ledger::OwnedSegment& segment, const ledger::Segments& all);

/// What the characters of these bars mean, one line.
[[nodiscard]] std::string bar_legend(std::string_view bars);

}  // namespace ullage::report
