// SPDX-License-Identifier: Apache-2.0
// Internal to the Perfetto view: operators, modules, named ranges and kernels as slices.
#pragma once

#include "report/perfetto/event_writer.hpp"
#include "timeline/trace.hpp"

#include <cstdint>
#include <optional>

namespace ullage::report::perfetto {

/// Nanoseconds of the epoch; nothing when there is none.
[[nodiscard]] std::optional<std::int64_t> first_call(const timeline::Trace& trace);

/// A row for each thread and each stream of the device. Of more than 200,000 calls the longest.
void write_calls(const timeline::Trace& trace, EventWriter& out);

}  // namespace ullage::report::perfetto
