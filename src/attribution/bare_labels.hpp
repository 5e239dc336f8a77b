// SPDX-License-Identifier: Apache-2.0
// Labels of a bare snapshot, which names nothing: only what lifetimes, sizes, frames and annotations prove.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attribution/labels.hpp"
#include "timeline/allocations.hpp"

namespace ullage::attribution {

/// A border of a named range of the source (record_function).
struct Annotation {
  std::string name;
  bool start = false;  ///< the range begins; false: it ends
  std::int64_t time_us = 0;
};

struct BareEvidence {
  const timeline::Timeline* timeline = nullptr;
  const timeline::Allocations* allocations = nullptr;
  std::vector<Annotation> annotations;
};

/// What cannot be proved stays unattributed.
Labels label_bare(const BareEvidence& evidence);

}  // namespace ullage::attribution
