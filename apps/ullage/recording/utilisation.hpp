// SPDX-License-Identifier: Apache-2.0
// What part of the device's arithmetic a recorded training uses: model FLOPs utilisation.
#pragma once

#include "ingest/run_directory/run_facts.hpp"
#include "report/run_result.hpp"

namespace ullage::cli {

/// Fills in the FLOPs of the result's throughput, and what the device can do at best: the rate that the script gave,
/// else the dense one of the catalogue in the precision that the model multiplies in. Of a device that is not in the
/// catalogue there is none.
void take_utilisation(report::RunResult& result, const ingest::RunFacts& facts);

}  // namespace ullage::cli
