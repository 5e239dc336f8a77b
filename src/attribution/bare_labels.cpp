// SPDX-License-Identifier: Apache-2.0
#include "attribution/bare_labels.hpp"

namespace ullage::attribution {

Labels label_bare(const BareEvidence& evidence) {
  Labels labels;
  labels.of.resize(evidence.allocations->count());
  return labels;
}

}  // namespace ullage::attribution
