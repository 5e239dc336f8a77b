// SPDX-License-Identifier: Apache-2.0
#include "ingest/snapshot/snapshot_fields.hpp"

#include <utility>

namespace ullage::ingest {

namespace {

using timeline::Action;

constexpr std::pair<std::string_view, Field> field_names[] = {
    {"action", Field::action},
    {"addr", Field::addr},
    {"device_free", Field::device_free},
    {"size", Field::size},
    {"stream", Field::stream},
    {"time_us", Field::time_us},
    {"frames", Field::frames},
    {"device", Field::device},
    {"address", Field::address},
    {"total_size", Field::total_size},
    {"segment_type", Field::segment_type},
    {"is_expandable", Field::is_expandable},
    {"blocks", Field::blocks},
    {"requested_size", Field::requested_size},
    {"state", Field::state},
    {"history", Field::history},
    {"filename", Field::filename},
    {"name", Field::name},
    {"line", Field::line},
};

constexpr std::pair<std::string_view, Action> action_names[] = {
    {"alloc", Action::alloc},
    {"free_requested", Action::free_requested},
    {"free_completed", Action::free_completed},
    {"segment_alloc", Action::segment_alloc},
    {"segment_free", Action::segment_free},
    {"segment_map", Action::segment_map},
    {"segment_unmap", Action::segment_unmap},
    {"oom", Action::oom},
    {"snapshot", Action::snapshot},
};

}  // namespace

Field Fields::find_field(std::string_view key) {
  for (const auto& [name, field] : field_names) {
    if (name == key) return field;
  }
  return Field::unknown;
}

Action Fields::find_action(std::string_view name) {
  for (const auto& [known, action] : action_names) {
    if (known == name) return action;
  }
  return Action::other;
}

}  // namespace ullage::ingest
