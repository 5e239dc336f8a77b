// SPDX-License-Identifier: Apache-2.0
// Internal to the Perfetto view: one device's memory.
#pragma once

#include "report/export_view.hpp"
#include "report/perfetto/event_writer.hpp"

#include <cstdint>
#include <optional>

namespace ullage::report::perfetto {

[[nodiscard]] std::optional<std::int64_t> time_of(const attribution::Annotation& annotation);

/// Curves of allocated, reserved and each category (with rounding, they add up to allocated); steps, phases and named
/// ranges; failed requests and the 100 largest allocations of at least 1 MiB. `origin_ns` is nothing where the source
/// has no times.
void write_device(const DeviceHistory& history, std::optional<std::int64_t> origin_ns, EventWriter& out);

}  // namespace ullage::report::perfetto
