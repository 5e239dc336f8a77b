// SPDX-License-Identifier: Apache-2.0
// All that evidence holds, ready to be written in another format.
#pragma once

#include "apps/ullage/evidence/evidence.hpp"
#include "report/export_view.hpp"
#include "timeline/covered_ranges.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ullage::cli {

/// A view and what it points to.
struct Export {
  std::vector<std::unique_ptr<Evidence>> evidence;  ///< of each device, by number
  std::vector<std::unique_ptr<timeline::FinalState>> made_segments;
  report::ExportView view;
  std::vector<std::string> notes;  ///< what the user should know of it
};

/// Opens the other devices of the same file, where it has several and can be read again. Errors: those of
/// open_evidence.
[[nodiscard]] Result<Export> export_of(std::unique_ptr<Evidence> evidence);

}  // namespace ullage::cli
