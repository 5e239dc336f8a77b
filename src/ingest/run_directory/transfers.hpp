// SPDX-License-Identifier: Apache-2.0
// Copies and synchronisations of each step, out of the device's log and the run's marks.
#pragma once

#include <span>
#include <vector>

#include "ingest/run_directory/device_log.hpp"
#include "ledger/facts.hpp"
#include "ledger/transfers.hpp"

namespace ullage::ingest {

/// Every step in order; the whole run as one when there was no optimizer step.
std::vector<ledger::StepTransfers> transfers_by_step(const DeviceLog& log, std::span<const ledger::Mark> marks);

}  // namespace ullage::ingest
