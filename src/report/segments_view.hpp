// SPDX-License-Identifier: Apache-2.0
// The segments of one moment with their blocks and owners: what `ullage ledger --segments` prints.
#pragma once

#include "ledger/segments.hpp"
#include "report/ledger_view.hpp"

#include <cstddef>
#include <string>

namespace ullage::report {

struct SegmentsView : MomentView {
  ledger::Segments segments;
  std::size_t top = 0;  ///< rows of each table for people; 0: all
};

/// For people, in ASCII but for names of the source.
[[nodiscard]] std::string segments_text(const SegmentsView& view);
/// For programs, with every segment and block: docs/schemas/segments.schema.json.
[[nodiscard]] std::string segments_json(const SegmentsView& view);

}  // namespace ullage::report
