// SPDX-License-Identifier: Apache-2.0
// Internal to the memory_viz view: one device's segments and events.
#pragma once

#include "report/export_view.hpp"
#include "report/memory_viz/pickle_writer.hpp"

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

namespace ullage::report::memory_viz {

/// The keys of the format.
struct Words {
  Words();
  using Word = PickleWriter::Word;
  Word action{"action"}, addr{"addr"}, size{"size"}, stream{"stream"}, time_us{"time_us"}, frames{"frames"};
  Word device{"device"}, address{"address"}, requested_size{"requested_size"}, state{"state"}, history{"history"};
  Word real_size{"real_size"}, device_free{"device_free"}, filename{"filename"}, line{"line"}, name{"name"};
  Word stage{"stage"}, category{"category"}, user_metadata{"user_metadata"};
  Word actions[10] = {{"alloc"},        {"free_requested"}, {"free_completed"}, {"segment_alloc"},
                      {"segment_free"}, {"segment_map"},    {"segment_unmap"},  {"oom"},
                      {"snapshot"},     {"other"}};
  Word categories[attribution::categories];  ///< [unattributed] is `unknown`, the word that the viewer looks for
  Word states[3] = {{"inactive"}, {"active_allocated"}, {"active_pending_free"}};
};

class DeviceWriter {
 public:
  DeviceWriter(const DeviceHistory& history, PickleWriter& out, Words& words);

  /// Into an open list, as events are.
  void write_segments();
  void write_events();
  [[nodiscard]] const timeline::Timeline& timeline() const { return *history_.timeline; }

 private:
  using Shared = PickleWriter::Shared;
  using AllocationId = timeline::AllocationId;

  void write_segment(const timeline::Segment& segment);
  void write_block(const timeline::Block& block);
  void write_legacy_history(const timeline::Block& block);
  void write_event(std::size_t index, AllocationId id);
  void write_stream(std::uint32_t index);
  void write_frames(timeline::StackId stack);
  void write_frame(timeline::FrameId id);
  void write_label(AllocationId id);
  void write_metadata(AllocationId id);
  void write_pair(const char* key, std::string_view value);
  [[nodiscard]] std::string phase_of(std::size_t phase) const;
  [[nodiscard]] std::size_t phase_index(AllocationId id) const;
  void learn_live();
  void choose_unknown();

  const DeviceHistory& history_;
  PickleWriter& out_;
  Words& words_;
  std::vector<Shared> frames_;
  std::vector<Shared> stacks_;
  timeline::AddressMap live_;  ///< at the end
  bool categories_ = true;
  std::size_t unknown_event_;  ///< an event that carries `unknown` although it allocates nothing
  using LabelKey = std::tuple<attribution::Category, attribution::AttributedBy, timeline::StringId, timeline::StringId,
                              timeline::StringId, timeline::StringId, std::size_t>;
  std::map<LabelKey, Shared> labels_;
};

}  // namespace ullage::report::memory_viz
