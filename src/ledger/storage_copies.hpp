// SPDX-License-Identifier: Apache-2.0
// Storages that hold a copy of what another storage held: contiguous, casts, clones, reshapes that cannot be views,
// padding, repetition, concatenation. Views own no storage, so that they never appear here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attribution/labels.hpp"
#include "timeline/allocations.hpp"
#include "timeline/trace.hpp"

namespace ullage::ledger {

enum class CopyKind : std::uint8_t { contiguous, cast, clone, reshape, padding, repetition, concatenation };
const char* name_of(CopyKind kind);

/// All copies of one kind that one line of code made.
struct StorageCopy {
  CopyKind kind = CopyKind::clone;
  std::string line;    ///< "file:line function"; empty where no Python code ran
  std::string module;  ///< its numbers as *; empty outside modules
  std::string lives;   ///< "saved for backward", "temporaries" ...
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;    ///< of all of them
  std::uint64_t at_peak = 0;  ///< of those that lived at the cut
};

struct CopySource {
  const timeline::Timeline* timeline = nullptr;
  const timeline::Allocations* allocations = nullptr;
  const attribution::Labels* labels = nullptr;
  const timeline::Trace* trace = nullptr;
  std::span<const timeline::CallId> calls;  ///< by allocation
};

/// The copies born in the events [begin, end), the most bytes first; `cut` is the moment of `at_peak`. The outermost of
/// the operators around an allocation that copies gives the kind. Transfers from the host are no copies here.
std::vector<StorageCopy> storage_copies(const CopySource& source, std::size_t begin, std::size_t end, std::size_t cut);

/// How many calls within [begin, end) of the trace's time only made a view.
std::uint64_t view_calls(const CopySource& source, std::size_t begin, std::size_t end);

}  // namespace ullage::ledger
