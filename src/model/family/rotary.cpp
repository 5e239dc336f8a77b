// SPDX-License-Identifier: Apache-2.0
// The buffers of rotary position embeddings. Types and their keys as in transformers' modeling_rope_utils.
#include "base/text.hpp"
#include "model/family/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ullage::model {
namespace {

struct Type {
  std::string_view name;
  std::array<std::string_view, 3> needs;  ///< keys beside rope_type and rope_theta
};

constexpr Type known_types[] = {{"default", {}},
                                {"linear", {"factor"}},
                                {"dynamic", {"factor"}},
                                {"yarn", {"factor"}},
                                {"longrope", {"short_factor", "long_factor"}},
                                {"llama3", {"factor", "low_freq_factor", "high_freq_factor"}},
                                {"proportional", {}}};

/// `rope_scaling` is the older name, and wins where both are there. An empty object counts as absent.
std::optional<Config> parameters_of(Config& config, std::string_view& field) {
  for (const std::string_view name : {"rope_scaling", "rope_parameters"}) {
    auto object = config.object(name);
    if (!object || object->ignored().empty()) continue;
    field = name;
    return object;
  }
  return std::nullopt;
}

void check_keys(Config& rope, const Type& type) {
  for (const std::string_view key : type.needs)
    if (!key.empty() && !rope.has(key))
      rope.refuse(key, fmt::format("missing, and rope_type '{}' needs it", type.name), "the key with its value");
}

/// Phi-3's files say `su` or `yarn` for what is called longrope now.
std::string current_name(const std::string& type, std::span<const std::string_view> family_types) {
  return !family_types.empty() && (type == "su" || type == "yarn") ? "longrope" : type;
}

const Type* find_type(Config& rope, const std::string& name, std::span<const std::string_view> family_types) {
  std::vector<std::string_view> names;
  for (const Type& type : known_types)
    if (family_types.empty() || std::ranges::find(family_types, type.name) != family_types.end())
      names.push_back(type.name);
  if (std::ranges::find(names, name) != names.end())
    return std::ranges::find(known_types, name, [](const Type& type) { return type.name; });
  rope.refuse("rope_type", fmt::format("'{}' is not known", printable(name.substr(0, 40), false)),
              fmt::format("{}", fmt::join(names, ", ")), suggestion(name, names));
  return known_types;
}

/// A list with one factor for each frequency.
void check_factors(Config& rope, std::string_view key, Size frequencies) {
  const auto length = rope.length(key);
  if (length && *length != frequencies)
    rope.refuse(key, fmt::format("a list of {}", *length), fmt::format("{} numbers, one a frequency", frequencies));
}

const Type& checked_type(Config& rope, const Rotary& rotary) {
  if (rope.has("full_attention") || rope.has("sliding_attention"))
    rope.refuse("full_attention", "this family has one rotary embedding for all layers", "one object, not one a kind");
  const auto given = rope.text("rope_type");
  const std::string name = given ? *given : rope.text("type").value_or("default");
  const Type& type = *find_type(rope, current_name(name, rotary.types), rotary.types);
  check_keys(rope, type);
  return type;
}

double checked_part(Config& rope, double fallback) {
  const double part = rope.number("partial_rotary_factor", fallback);
  if (part >= 0 && part <= 1) return part;
  rope.refuse("partial_rotary_factor", fmt::format("{} is no share of a head", part), "a number from 0 to 1");
  return 1;
}

/// Frequencies: one for two elements of the rotated part.
Size frequencies(Config& rope, const Rotary& rotary) {
  const Type& type = checked_type(rope, rotary);
  const double part = checked_part(rope, rotary.part);
  if (type.name == "proportional") return rotary.head_width / 2;
  const bool heeded = type.name != "default" || rotary.part_by_default;
  const Size rotated = heeded ? static_cast<Size>(static_cast<double>(rotary.head_width) * part) : rotary.head_width;
  const Size count = (rotated + 1) / 2;
  if (type.name == "dynamic" && rotated == 2)
    rope.refuse("rope_type", "'dynamic' divides by two less than the rotated elements, which are two", "another type");
  if (type.name == "longrope")
    for (const std::string_view key : {"short_factor", "long_factor"}) check_factors(rope, key, count);
  return count;
}

}  // namespace

void rotary_embedding(Config& config, Tree& tree, const Rotary& rotary) {
  std::string_view field = "rope_parameters";
  auto rope = parameters_of(config, field);
  if (!rope) rope = Config::parse("{}", config.where()).value();
  const Size count = frequencies(*rope, rotary);
  config.adopt(*rope, field);
  tree.network().rotary_width = 2 * count;
  tree.buffer(fmt::format("{}.inv_freq", rotary.module), count);
  tree.buffer(fmt::format("{}.original_inv_freq", rotary.module), count);
}

}  // namespace ullage::model
