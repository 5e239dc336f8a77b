// SPDX-License-Identifier: Apache-2.0
#include "report/segments_view.hpp"

#include "report/json/json_writer.hpp"
#include "report/json/ledger_lines.hpp"

#include <string_view>

namespace ullage::report {
namespace {

using timeline::BlockState;

const char* state_of(BlockState state) {
  constexpr const char* names[] = {"free", "allocated", "pending_free"};
  return names[static_cast<std::size_t>(state)];
}

void write_owner(JsonWriter& json, const ledger::BlockOwner& owner, const std::string& what) {
  json.field("category", attribution::id_of(owner.category));
  if (!what.empty()) json.field("owner", std::string_view(what));
  if (!owner.line.empty()) json.field("line", std::string_view(owner.line));
}

void write_block(JsonWriter& json, const ledger::OwnedBlock& block, const ledger::Segments& all) {
  json.begin_object();
  json.field("offset", block.offset);
  json.field("bytes", block.bytes);
  json.field("requested_bytes", block.requested);
  json.field("state", state_of(block.state));
  if (block.owner != ledger::no_owner) write_owner(json, all.owners[block.owner], all.owners[block.owner].what);
  json.end_object();
}

void write_pin(JsonWriter& json, const ledger::Pin& pin, const ledger::Segments& all) {
  write_owner(json, all.owners[pin.owner], all.owners[pin.owner].layers);
  json.field("bytes", pin.bytes);
}

void write_segment(JsonWriter& json, const ledger::OwnedSegment& segment, const ledger::Segments& all) {
  json.begin_object();
  json.field("address", segment.address);
  json.field("bytes", segment.bytes);
  json.field("small", segment.small);
  json.field("expandable", segment.expandable);
  json.field("stream", segment.stream);
  json.field("allocated_bytes", segment.allocated);
  json.field("hole_bytes", segment.holes);
  json.field("largest_hole_bytes", segment.largest_hole);
  json.begin_array("blocks");
  for (const auto& block : segment.blocks) write_block(json, block, all);
  json.end_array();
  json.begin_array("pinned_by");
  for (const ledger::Pin& pin : segment.pinned_by) {
    json.begin_object();
    write_pin(json, pin, all);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_request(JsonWriter& json, const ledger::RefusedRequest& request) {
  json.begin_object("request");
  json.field("bytes", request.bytes);
  json.field("stream", request.stream);
  json.field("small", request.small);
  json.field("hole_bytes", request.holes);
  json.field("largest_hole_bytes", request.largest_hole);
  json.end_object();
}

void write_pinned_idle(JsonWriter& json, const ledger::Segments& all) {
  json.begin_array("pinned_by");
  for (const ledger::PinnedIdle& pinned : all.pinned_by) {
    json.begin_object();
    write_pin(json, pinned.pin, all);
    json.field("segments", pinned.segments);
    json.field("idle_bytes", pinned.idle);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string segments_json(const SegmentsView& view) {
  const ledger::Segments& all = view.segments;
  JsonWriter json;
  begin_moment(json, view);
  json.field("reserved_bytes", all.reserved);
  json.field("allocated_bytes", all.allocated);
  json.field("hole_bytes", all.holes);
  json.field("largest_hole_bytes", all.largest_hole);
  if (all.outside > 0) json.field("allocated_outside_segments_bytes", all.outside);
  if (all.request) write_request(json, *all.request);
  json.begin_array("segments");
  for (const auto& segment : all.segments) write_segment(json, segment, all);
  json.end_array();
  write_pinned_idle(json, all);
  write_evidence(json, view.evidence);
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
