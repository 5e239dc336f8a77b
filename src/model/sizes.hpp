// SPDX-License-Identifier: Apache-2.0
// Sizes that stand in for those of a configuration: another number of layers, another width.
#pragma once

#include "model/config.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ullage::model {

enum class SizeOf : std::uint8_t { layers, hidden, heads, key_value_heads, intermediate, vocabulary };
inline constexpr std::size_t size_count = 6;

/// By SizeOf; nothing: the configuration's own.
using Sizes = std::array<std::optional<std::uint64_t>, size_count>;

/// A config.json of nothing but its family, and of its positions where some are given: everything else is transformers'
/// default.
[[nodiscard]] std::string bare_config(std::string_view family, std::optional<std::uint64_t> positions = std::nullopt);

/// Puts the sizes into the fields of the family; a list with an entry for each layer goes where the layers change.
/// Refuses, in `config`, a size that the family does not have.
void replace_sizes(Config& config, std::string_view family, const Sizes& sizes);

}  // namespace ullage::model
