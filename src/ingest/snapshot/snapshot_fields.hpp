// SPDX-License-Identifier: Apache-2.0
// Internal to the snapshot reader: recognises keys and actions quickly. A key that the pickle shares through its memo
// is compared as text once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/snapshot/pickle.hpp"
#include "timeline/timeline.hpp"

namespace ullage::ingest {

enum class Field : std::uint8_t {
  unread,  ///< not looked at yet
  unknown,
  action,
  addr,
  device_free,
  size,
  stream,
  time_us,
  frames,
  device,
  address,
  total_size,
  segment_type,
  is_expandable,
  blocks,
  requested_size,
  state,
  history,
  filename,
  name,
  line,
};

class Fields {
 public:
  explicit Fields(const pickle::Document& document)
      : document_(document), fields_(document.text_count()), actions_(document.text_count(), unread_action) {}

  Field field(pickle::Value key) {
    if (key.kind() != pickle::Kind::text) return Field::unknown;
    Field& known = fields_[key.identity()];
    if (known == Field::unread) known = find_field(document_.text(key));
    return known;
  }

  timeline::Action action(pickle::Value value) {
    if (value.kind() != pickle::Kind::text) return timeline::Action::other;
    std::uint8_t& known = actions_[value.identity()];
    if (known == unread_action) known = static_cast<std::uint8_t>(find_action(document_.text(value)));
    return static_cast<timeline::Action>(known);
  }

  static Field find_field(std::string_view key);
  static timeline::Action find_action(std::string_view name);

 private:
  static constexpr std::uint8_t unread_action = 0xff;
  const pickle::Document& document_;
  std::vector<Field> fields_;
  std::vector<std::uint8_t> actions_;
};

}  // namespace ullage::ingest
