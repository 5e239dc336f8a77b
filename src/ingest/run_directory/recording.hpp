// SPDX-License-Identifier: Apache-2.0
// What the record of a training on a real device leaves to be worked out.
#pragma once

#include "ingest/run_directory/run_directory.hpp"

namespace ullage::ingest {

/// What this process held on the device beside PyTorch's memory (the context, other libraries): the most that a sample
/// shows. Where the driver does not tell it by process, other processes are in it. 0 where nothing was sampled.
std::uint64_t outside_pytorch(const std::vector<Sample>& samples);

/// The history of a recording is of some steps: keeps their marks and lists alone, so that both can be joined.
void cut_to_history(RunDirectory& run);
/// Takes that back, where they could not be joined, and notes it.
void leave_uncut(RunDirectory& run);

/// Fills in the device's bytes at each mark, and names the tensors at the highest phase: a recording lists them in its
/// first steps only, and those of the last such step stand for it.
void complete_recording(RunDirectory& run);

}  // namespace ullage::ingest
