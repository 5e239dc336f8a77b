// SPDX-License-Identifier: Apache-2.0
// Changes that would take bytes off a cut, each with the bytes, worked out from what lives there. Nothing is assumed
// about the script: a rule speaks only where the ledger shows what it acts on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/breakdown.hpp"

namespace ullage::findings {

struct Change {
  std::string id;           ///< fused_attention, checkpointing, optimizer_8bit, half_micro_batch
  std::string text;         ///< what to do
  std::string basis;        ///< what the bytes are made of
  std::uint64_t saves = 0;  ///< bytes at this cut, at most
};

/// The largest saving first; before it fused attention, which costs no time, where it saves a twentieth. Rules:
/// - fused attention: in modules that ran a softmax, what softmax, dropout, masks and the arithmetic around them keep
///   whose size is that of the probabilities, or two or four times more or less (another precision, a mask);
/// - checkpointing: all saved activations of the modules `PREFIX.N` that repeat most, less those of the largest of them
///   (recomputed one at a time) and of the last tensor of each (its boundary);
/// - 8-bit optimizer state: three quarters of exp_avg and exp_avg_sq (1.6 % less: a scale per block of 256 values);
/// - half the micro batch: half of the activations and inputs.
std::vector<Change> changes_at(const ledger::Cut& cut);

}  // namespace ullage::findings
