// SPDX-License-Identifier: Apache-2.0
// Evidence of formats that hold counters over time instead of allocations.
#pragma once

#include "apps/ullage/evidence/evidence.hpp"

namespace ullage::cli {

using Opened = Result<std::unique_ptr<Evidence>>;

[[nodiscard]] Opened open_memory_timeline(ingest::Source& source);
[[nodiscard]] Opened open_smi_log(ingest::Source& source);

/// The page of export_memory_timeline, and a log of nvidia-smi without the names of its fields.
[[nodiscard]] Opened refuse_page(const std::string& path);
[[nodiscard]] Opened refuse_headless(const std::string& path);

}  // namespace ullage::cli
