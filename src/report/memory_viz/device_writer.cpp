// SPDX-License-Identifier: Apache-2.0
#include "report/memory_viz/device_writer.hpp"

#include "report/json/json_writer.hpp"
#include "report/phase_text.hpp"

#include <limits>

namespace ullage::report::memory_viz {

using attribution::Category;
using attribution::Label;
using timeline::Action;
using timeline::Allocations;
using timeline::AllocationWalk;

namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

}  // namespace

Words::Words() {
  for (std::size_t i = 0; i < attribution::categories; ++i) {
    const auto owner = static_cast<Category>(i);
    categories[i].text = owner == Category::unattributed ? "unknown" : attribution::id_of(owner);
  }
}

DeviceWriter::DeviceWriter(const DeviceHistory& history, PickleWriter& out, Words& words)
    : history_(history),
      out_(out),
      words_(words),
      frames_(timeline().stacks.frame_count()),
      stacks_(timeline().stacks.stack_count()),
      unknown_event_(nowhere) {
  learn_live();
  choose_unknown();
}

void DeviceWriter::learn_live() {
  const Allocations& allocations = *history_.allocations;
  for (AllocationId id = 0; id < allocations.count(); ++id) {
    if (allocations.completed[id] == Allocations::never) live_.set(allocations.address[id], id);
  }
}

// The viewer fails on categories without `unknown` among them (it misspells its own variable then): some event must
// have it. Where none can, there are no categories at all.
void DeviceWriter::choose_unknown() {
  AllocationWalk walk(timeline(), *history_.allocations);
  std::size_t free_to_use = nowhere;
  for (std::size_t i = 0; i < timeline().events.count(); ++i) {
    const AllocationId id = walk.next().of;
    const Action action = timeline().events.action[i];
    const bool shown = id != AllocationWalk::none && (action == Action::alloc || history_.allocations->older(id));
    if (shown && history_.labels->of[id].category == Category::unattributed) return;
    if (!shown && free_to_use == nowhere) free_to_use = i;
  }
  unknown_event_ = free_to_use;
  categories_ = free_to_use != nowhere;
}

// --- segments ---

void DeviceWriter::write_segments() {
  for (const timeline::Segment& segment : history_.segments) {
    out_.next_item();
    write_segment(segment);
  }
}

void DeviceWriter::write_segment(const timeline::Segment& segment) {
  const auto blocks = history_.blocks.subspan(segment.first_block, segment.block_count);
  std::uint64_t allocated = 0, active = 0, requested = 0;
  for (const timeline::Block& block : blocks) {
    if (block.state == timeline::BlockState::inactive) continue;
    active += block.size;
    requested += block.requested;
    if (block.state == timeline::BlockState::allocated) allocated += block.size;
  }
  out_.begin_dict();
  out_.word(words_.device);
  out_.integer(static_cast<std::int64_t>(timeline().device));
  out_.word(words_.address);
  out_.integer(segment.address);
  out_.text("total_size");
  out_.integer(segment.bytes);
  out_.text("allocated_size");
  out_.integer(allocated);
  out_.text("active_size");
  out_.integer(active);
  out_.word(words_.requested_size);
  out_.integer(requested);
  write_stream(segment.stream);
  out_.text("segment_type");
  out_.text(segment.small ? "small" : "large");
  out_.text("is_expandable");
  out_.boolean(segment.expandable);
  out_.word(words_.frames);
  write_frames(timeline::no_stack);
  out_.text("blocks");
  out_.begin_list();
  for (const timeline::Block& block : blocks) {
    out_.next_item();
    write_block(block);
  }
  out_.end_list();
  out_.end_dict();
}

void DeviceWriter::write_block(const timeline::Block& block) {
  const bool active = block.state != timeline::BlockState::inactive;
  out_.begin_dict();
  out_.word(words_.address);
  out_.integer(block.address);
  out_.word(words_.size);
  out_.integer(block.size);
  out_.word(words_.state);
  out_.word(words_.states[static_cast<std::size_t>(block.state)]);
  if (active && block.requested == 0) {
    write_legacy_history(block);
  } else {
    out_.word(words_.requested_size);
    out_.integer(block.requested);
    out_.word(words_.frames);
    write_frames(block.stack);
  }
  if (const AllocationId id = live_.find(block.address); active && id != AllocationWalk::none) write_label(id);
  out_.end_dict();
}

// How torch before 2.1 writes a block. Readers take its size where no requested one is known.
void DeviceWriter::write_legacy_history(const timeline::Block& block) {
  out_.word(words_.history);
  out_.begin_list();
  out_.next_item();
  out_.begin_dict();
  out_.word(words_.addr);
  out_.integer(block.address);
  out_.word(words_.real_size);
  out_.integer(block.size);
  out_.word(words_.frames);
  write_frames(block.stack);
  out_.end_dict();
  out_.end_list();
}

// --- events ---

void DeviceWriter::write_events() {
  AllocationWalk walk(timeline(), *history_.allocations);
  for (std::size_t i = 0; i < timeline().events.count(); ++i) {
    out_.next_item();
    write_event(i, walk.next().of);
  }
}

void DeviceWriter::write_event(std::size_t index, AllocationId id) {
  const timeline::Event event = timeline().events.at(index);
  out_.begin_dict();
  out_.word(words_.action);
  out_.word(words_.actions[static_cast<std::size_t>(event.action)]);
  out_.word(event.action == Action::oom ? words_.device_free : words_.addr);
  out_.integer(event.address);
  out_.word(words_.size);
  out_.integer(event.size);
  write_stream(event.stream);
  if (event.time_us != 0) {
    out_.word(words_.time_us);
    out_.integer(event.time_us);
  }
  if (event.stack != timeline::no_stack) {
    out_.word(words_.frames);
    write_frames(event.stack);
  }
  if (index == unknown_event_) {
    out_.word(words_.category);
    out_.word(words_.categories[static_cast<std::size_t>(Category::unattributed)]);
  } else if (id != AllocationWalk::none && (event.action == Action::alloc || history_.allocations->older(id))) {
    write_label(id);
  }
  out_.end_dict();
}

// A stream's number is unsigned here and signed there.
void DeviceWriter::write_stream(std::uint32_t index) {
  out_.word(words_.stream);
  out_.integer(static_cast<std::int64_t>(timeline().stream_number(index)));
}

// --- stacks ---

void DeviceWriter::write_frames(timeline::StackId stack) {
  if (out_.recall(stacks_[stack])) return;
  out_.begin_list();
  for (const timeline::FrameId id : timeline().stacks.stack(stack)) {
    out_.next_item();
    write_frame(id);
  }
  out_.end_list();
  out_.remember(stacks_[stack]);
}

void DeviceWriter::write_frame(timeline::FrameId id) {
  if (out_.recall(frames_[id])) return;
  const timeline::Frame& frame = timeline().stacks.frame(id);
  out_.begin_dict();
  out_.word(words_.filename);
  out_.text(clean_utf8(timeline().strings.text(frame.file)));
  out_.word(words_.line);
  out_.integer(std::uint64_t{frame.line});
  out_.word(words_.name);
  out_.text(clean_utf8(timeline().strings.text(frame.name)));
  out_.end_dict();
  out_.remember(frames_[id]);
}

// --- labels ---

void DeviceWriter::write_label(AllocationId id) {
  if (categories_) {
    out_.word(words_.category);
    out_.word(words_.categories[static_cast<std::size_t>(history_.labels->of[id].category)]);
  }
  out_.word(words_.user_metadata);
  const Label& l = history_.labels->of[id];
  Shared& shared = labels_[{l.category, l.by, l.kind, l.module, l.operation, l.name, phase_index(id)}];
  if (out_.recall(shared)) return;
  write_metadata(id);
  out_.remember(shared);
}

std::size_t DeviceWriter::phase_index(AllocationId id) const {
  if (history_.phases.empty() || history_.allocations->older(id)) return nowhere;
  return attribution::phase_at(history_.phases, history_.allocations->born[id]);
}

void DeviceWriter::write_pair(const char* key, std::string_view value) {
  if (value.empty()) return;
  out_.text(key);
  out_.text(clean_utf8(value));
}

void DeviceWriter::write_metadata(AllocationId id) {
  const Label& label = history_.labels->of[id];
  const auto text = [&](timeline::StringId string) { return history_.labels->strings.text(string); };
  const std::size_t phase = phase_index(id);
  out_.begin_dict();
  write_pair("category", attribution::id_of(label.category));
  write_pair("kind", text(label.kind));
  write_pair("tensor", text(label.name));
  write_pair("module", text(label.module));
  write_pair("operator", text(label.operation));
  write_pair("phase", phase == nowhere ? "" : phase_title(history_.phases[phase]));
  write_pair("attributed_by", attribution::name_of(label.by));
  out_.end_dict();
}

}  // namespace ullage::report::memory_viz
