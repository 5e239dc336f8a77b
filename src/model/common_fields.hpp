// SPDX-License-Identifier: Apache-2.0
// Fields that decide no parameter but make transformers refuse a configuration when they are wrong.
#pragma once

#include "model/config.hpp"

namespace ullage::model {

/// Refuses wrong types, unknown activations, and what changes the parameters in ways that no family describes.
void check_common_fields(Config& config);

}  // namespace ullage::model
