// SPDX-License-Identifier: Apache-2.0
// A view of timelines, with all that it points to.
#pragma once

#include <deque>
#include <string>

#include "attribution/bare_labels.hpp"
#include "report/export_view.hpp"
#include "timeline/block_replay.hpp"

namespace ullage::test {

class ExportFixture {
 public:
  report::DeviceHistory& add(timeline::Timeline timeline) {
    Parts& parts = parts_.emplace_back();
    parts.timeline = std::move(timeline);
    parts.initial = timeline::settled_initial_state(parts.timeline);
    parts.allocations = timeline::allocations(parts.timeline, parts.initial);
    parts.labels = attribution::label_bare({&parts.timeline, &parts.allocations, {}});
    report::DeviceHistory history;
    history.timeline = &parts.timeline;
    history.initial = &parts.initial;
    history.allocations = &parts.allocations;
    history.labels = &parts.labels;
    history.segments = parts.timeline.segments;
    history.blocks = parts.timeline.blocks;
    view.devices.push_back(history);
    return view.devices.back();
  }
  attribution::Labels& labels(std::size_t device) { return parts_[device].labels; }
  timeline::Allocations& allocations(std::size_t device) { return parts_[device].allocations; }

  std::string text(void (*write)(const report::ExportView&, report::Sink&)) const {
    std::string text;
    report::Sink sink([&text](std::string_view piece) { text += piece; });
    write(view, sink);
    return text;
  }

  report::ExportView view;

 private:
  struct Parts {
    timeline::Timeline timeline;
    timeline::InitialState initial;
    timeline::Allocations allocations;
    attribution::Labels labels;
  };
  std::deque<Parts> parts_;
};

}  // namespace ullage::test
