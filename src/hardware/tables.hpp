// SPDX-License-Identifier: Apache-2.0
// The tables that compile_catalogue writes; private to this room.
#pragma once

#include "hardware/catalogue.hpp"

namespace ullage::hardware_tables {

[[nodiscard]] std::span<const Gpu> gpus();

}  // namespace ullage::hardware_tables
