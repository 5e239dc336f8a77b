// SPDX-License-Identifier: Apache-2.0
// The ledger speaks of the same facts as the attribution.
#pragma once

#include "attribution/facts.hpp"

namespace ullage::ledger {

using attribution::Mark;
using attribution::MarkCounters;
using attribution::MarkName;
using attribution::name_of;
using attribution::PhaseName;
using attribution::PhaseSpan;
using attribution::Tensor;
using attribution::tensor_classes;
using attribution::TensorClass;
using attribution::TensorList;

}  // namespace ullage::ledger
