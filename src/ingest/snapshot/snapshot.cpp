// SPDX-License-Identifier: Apache-2.0
#include "ingest/snapshot/snapshot.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "ingest/file/mapped_file.hpp"
#include "ingest/snapshot/pickle.hpp"
#include "ingest/snapshot/snapshot_fields.hpp"

namespace ullage::ingest {

namespace {

using pickle::Document;
using pickle::Kind;
using pickle::Value;
using timeline::Action;
using timeline::BlockState;
using timeline::StackId;

constexpr int max_device = 1023;
constexpr std::size_t max_unknown_actions = 16;
constexpr std::uint32_t unread = 0xffffffffU;

// Frames and stacks, read once for each object of the pickle.
class Stacks {
 public:
  Stacks(const Document& document, Fields& fields, timeline::Timeline& out)
      : document_(document),
        fields_(fields),
        out_(out),
        frame_of_(document.container_count(), unread),
        stack_of_(document.container_count(), unread) {}

  StackId read(Value frames) {
    if (frames.kind() != Kind::list && frames.kind() != Kind::tuple) return timeline::no_stack;
    std::uint32_t& known = stack_of_[frames.identity()];
    if (known != unread) return known;
    ids_.clear();
    for (const Value frame : document_.items(frames)) {
      if (frame.kind() == Kind::dict) ids_.push_back(frame_id(frame));
    }
    return known = out_.stacks.intern(ids_);
  }

 private:
  timeline::FrameId frame_id(Value dict) {
    std::uint32_t& known = frame_of_[dict.identity()];
    if (known == unread) known = out_.stacks.intern_frame(read_frame(dict));
    return known;
  }

  timeline::Frame read_frame(Value dict) {
    timeline::Frame frame;
    const auto pairs = document_.pairs(dict);
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      const Value value = pairs[i + 1];
      switch (fields_.field(pairs[i])) {
        case Field::filename:
          frame.file = out_.strings.intern(document_.text(value));
          break;
        case Field::name:
          frame.name = out_.strings.intern(document_.text(value));
          break;
        case Field::line:
          frame.line = static_cast<std::uint32_t>(document_.to_unsigned(value).value_or(0));
          break;
        default:
          break;
      }
    }
    return frame;
  }

  const Document& document_;
  Fields& fields_;
  timeline::Timeline& out_;
  std::vector<std::uint32_t> frame_of_;
  std::vector<std::uint32_t> stack_of_;
  std::vector<timeline::FrameId> ids_;
};

class Reader {
 public:
  Reader(const Document& document, const SnapshotOptions& options)
      : document_(document),
        options_(options),
        fields_(document),
        stacks_(document, fields_, out_.timeline),
        visited_(document.container_count()) {}

  Result<Snapshot> run();

 private:
  bool find_parts();
  void find_devices();
  Result<int> choose_device() const;
  std::map<std::uint64_t, std::uint64_t> segment_bytes() const;  ///< by device
  void read_segments(int device);
  void read_segment(Value segment, int device);
  void read_blocks(Value blocks, timeline::Segment& segment);
  std::uint64_t read_block(Value block, std::uint64_t address);
  void read_legacy_history(Value history, timeline::Block& block);
  void read_events(Value trace);
  void read_event(Value event);
  void read_annotations();
  void read_settings(Value settings);
  void read_divisions(Value divisions);
  void read_overflow(Value settings, int device);
  Value per_device(Value value, int device) const;
  void note_unknown(Value action);

  // Every list is read once: a pickle may name one list a million times.
  bool first_visit(Value list) {
    if (!list.is_container() || visited_[list.identity()]) return false;
    return visited_[list.identity()] = true;
  }
  std::uint64_t number(Value value) {
    const auto read = document_.to_unsigned(value);
    out_.bad_values += !read;
    return read.value_or(0);
  }
  StackId stack(Value frames) { return options_.stacks ? stacks_.read(frames) : timeline::no_stack; }
  std::uint32_t stream(Value value) {
    const auto read = static_cast<std::uint64_t>(document_.to_signed(value).value_or(0));
    if (read != last_stream_ || out_.timeline.streams.empty()) {
      last_stream_ = read;
      last_stream_index_ = out_.timeline.streams.size() < 65536 ? out_.timeline.stream_index(read) : 0;
    }
    return last_stream_index_;
  }

  const Document& document_;
  const SnapshotOptions& options_;
  Snapshot out_;
  Fields fields_;
  Stacks stacks_;
  std::vector<bool> visited_;
  Value segments_, traces_;
  std::uint64_t last_stream_ = 0;
  std::uint32_t last_stream_index_ = 0;
};

bool Reader::find_parts() {
  const Value root = document_.root();
  if (root.kind() == Kind::list) {  // the bare result of memory_snapshot()
    segments_ = root;
    return true;
  }
  segments_ = document_.get(root, "segments");
  traces_ = document_.get(root, "device_traces");
  return segments_.is_container() || traces_.is_container();
}

void Reader::find_devices() {
  std::set<int> found;
  const auto traces = document_.items(traces_);
  for (std::size_t i = 0; i < traces.size() && i <= max_device; ++i) {
    if (!document_.items(traces[i]).empty()) found.insert(static_cast<int>(i));
  }
  for (const Value segment : document_.items(segments_)) {
    const auto device = document_.to_unsigned(document_.get(segment, "device")).value_or(0);
    if (device <= max_device) found.insert(static_cast<int>(device));
  }
  out_.devices.assign(found.begin(), found.end());
}

Result<int> Reader::choose_device() const {
  const std::vector<int>& all = out_.devices;
  if (options_.device) {
    if (std::ranges::find(all, *options_.device) != all.end()) return *options_.device;
    std::string known;
    for (const int device : all) known += (known.empty() ? "" : ", ") + std::to_string(device);
    return fail(ErrorKind::usage, "the snapshot has nothing of device " + std::to_string(*options_.device), {},
                "one of its devices: " + (known.empty() ? "none" : known));
  }
  const auto traces = document_.items(traces_);
  const auto events = [&](int device) {
    const auto index = static_cast<std::size_t>(device);
    return index < traces.size() ? document_.items(traces[index]).size() : 0;
  };
  const auto bytes = segment_bytes();
  const auto weight = [&](int device) {
    const auto found = bytes.find(static_cast<std::uint64_t>(device));
    return std::pair(found != bytes.end() ? found->second : 0, events(device));
  };
  const auto largest = std::ranges::max_element(all, {}, weight);
  return largest == all.end() ? 0 : *largest;
}

std::map<std::uint64_t, std::uint64_t> Reader::segment_bytes() const {
  std::map<std::uint64_t, std::uint64_t> bytes;
  for (const Value segment : document_.items(segments_)) {
    std::uint64_t& of_device = bytes[document_.to_unsigned(document_.get(segment, "device")).value_or(0)];
    const auto size = document_.to_unsigned(document_.get(segment, "total_size")).value_or(0);
    if (__builtin_add_overflow(of_device, size, &of_device)) of_device = std::numeric_limits<std::uint64_t>::max();
  }
  return bytes;
}

Result<Snapshot> Reader::run() {
  if (!find_parts()) {
    return fail(ErrorKind::bad_input, "this pickle is not a memory snapshot", {},
                "a dict with `segments` and `device_traces`, or a list of segments");
  }
  find_devices();
  const auto device = choose_device();
  if (!device) return tl::unexpected<Error>(device.error());
  out_.timeline.device = *device;
  const Value settings = document_.get(document_.root(), "allocator_settings");
  read_settings(settings);
  read_overflow(settings, *device);
  read_segments(*device);
  const auto traces = document_.items(traces_);
  if (static_cast<std::size_t>(*device) < traces.size()) read_events(traces[static_cast<std::size_t>(*device)]);
  read_annotations();
  out_.damage = document_.damage();
  return std::move(out_);
}

// --- segments ---

void Reader::read_segments(int device) {
  for (const Value segment : document_.items(segments_)) {
    if (segment.kind() != Kind::dict || !first_visit(segment)) {
      ++out_.bad_values;
      continue;
    }
    read_segment(segment, device);
  }
  std::ranges::stable_sort(out_.timeline.segments, {}, &timeline::Segment::address);
}

void Reader::read_segment(Value value, int device) {
  timeline::Segment segment;
  Value blocks;
  std::uint64_t of_device = 0;
  const auto pairs = document_.pairs(value);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const Value v = pairs[i + 1];
    switch (fields_.field(pairs[i])) {
      case Field::device:
        of_device = number(v);
        break;
      case Field::address:
        segment.address = number(v);
        break;
      case Field::total_size:
        segment.bytes = number(v);
        break;
      case Field::stream:
        segment.stream = stream(v);
        break;
      case Field::segment_type:
        segment.small = document_.text(v) == "small";
        break;
      case Field::is_expandable:
        segment.expandable = document_.to_boolean(v).value_or(false);
        break;
      case Field::blocks:
        blocks = v;
        break;
      default:
        break;
    }
  }
  if (of_device != static_cast<std::uint64_t>(device)) return;
  read_blocks(blocks, segment);
  out_.timeline.segments.push_back(segment);
}

void Reader::read_blocks(Value blocks, timeline::Segment& segment) {
  segment.first_block = out_.timeline.blocks.size();
  if (!first_visit(blocks)) return;
  std::uint64_t address = segment.address;
  for (const Value block : document_.items(blocks)) {
    if (block.kind() == Kind::dict) {
      address = read_block(block, address);
    } else {
      ++out_.bad_values;
    }
  }
  segment.block_count = out_.timeline.blocks.size() - segment.first_block;
}

BlockState state_of(std::string_view text) {
  if (text == "active_allocated") return BlockState::allocated;
  if (text == "active_pending_free" || text == "active_awaiting_free") return BlockState::pending_free;
  return BlockState::inactive;
}

// Reads one block, whose address may be missing (before 2.1); returns where the next one begins.
std::uint64_t Reader::read_block(Value value, std::uint64_t address) {
  timeline::Block block;
  block.address = address;
  const auto pairs = document_.pairs(value);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const Value v = pairs[i + 1];
    switch (fields_.field(pairs[i])) {
      case Field::address:
        block.address = number(v);
        break;
      case Field::size:
        block.size = number(v);
        break;
      case Field::requested_size:
        block.requested = number(v);
        break;
      case Field::state:
        block.state = state_of(document_.text(v));
        break;
      case Field::frames:
        block.stack = stack(v);
        break;
      case Field::history:
        read_legacy_history(v, block);
        break;
      default:
        break;
    }
  }
  out_.timeline.blocks.push_back(block);
  return block.address + block.size;
}

void Reader::read_legacy_history(Value history, timeline::Block& block) {
  const auto entries = document_.items(history);
  if (entries.empty() || block.stack != timeline::no_stack) return;
  block.stack = stack(document_.get(entries.front(), "frames"));
}

// --- events ---

void Reader::read_events(Value trace) {
  const auto events = document_.items(trace);
  out_.timeline.events.reserve(std::min<std::size_t>(events.size(), unread - 1));
  for (const Value event : events) {
    if (event.kind() == Kind::dict && out_.timeline.events.count() < unread - 1) {
      read_event(event);
    } else {
      ++out_.bad_values;
    }
  }
}

void Reader::read_event(Value value) {
  timeline::Event event;
  Value action;
  const auto pairs = document_.pairs(value);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const Value v = pairs[i + 1];
    switch (fields_.field(pairs[i])) {
      case Field::action:
        action = v;
        break;
      case Field::addr:
      case Field::device_free:  // an oom has it instead
        event.address = number(v);
        break;
      case Field::size:
        event.size = number(v);
        break;
      case Field::stream:
        event.stream = stream(v);
        break;
      case Field::time_us:
        event.time_us = document_.to_signed(v).value_or(0);
        break;
      case Field::frames:
        event.stack = stack(v);
        break;
      default:
        break;
    }
  }
  event.action = fields_.action(action);
  if (event.action == Action::other) note_unknown(action);
  out_.timeline.events.push_back(event);
}

void Reader::note_unknown(Value action) {
  if (out_.unknown_actions.size() >= max_unknown_actions) return;
  const std::string name(document_.text(action).substr(0, 64));
  if (std::ranges::find(out_.unknown_actions, name) == out_.unknown_actions.end()) out_.unknown_actions.push_back(name);
}

void Reader::read_annotations() {
  for (const Value value : document_.items(document_.get(document_.root(), "external_annotations"))) {
    if (value.kind() != Kind::dict) continue;
    Annotation annotation;
    annotation.name = document_.text(document_.get(value, "name")).substr(0, 1024);
    annotation.start = document_.text(document_.get(value, "stage")) == "START";
    annotation.device = static_cast<int>(document_.to_signed(document_.get(value, "device")).value_or(0));
    annotation.time_us = document_.to_signed(document_.get(value, "time_us")).value_or(0);
    out_.annotations.push_back(std::move(annotation));
  }
}

// --- settings ---

void Reader::read_settings(Value settings) {
  timeline::AllocatorSettings& out = out_.timeline.settings;
  const auto split = document_.to_signed(document_.get(settings, "max_split_size"));
  if (split && *split > 0) out.max_split_bytes = static_cast<std::uint64_t>(*split);
  out.expandable_segments = document_.to_boolean(document_.get(settings, "expandable_segments")).value_or(false);
  read_divisions(document_.get(settings, "roundup_power2_divisions"));
}

void Reader::read_divisions(Value divisions) {
  auto& slots = out_.timeline.settings.roundup_power2_divisions;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    const auto value = document_.to_unsigned(document_.get(divisions, std::to_string(1U << slot)));
    if (value && *value <= 65536) slots[slot] = static_cast<std::uint32_t>(*value);
  }
}

// A value that is given once, or per device in a list.
Value Reader::per_device(Value value, int device) const {
  const auto list = document_.items(value);
  if (list.empty()) return value;
  return static_cast<std::size_t>(device) < list.size() ? list[static_cast<std::size_t>(device)] : Value{};
}

void Reader::read_overflow(Value settings, int device) {
  for (const Value place : {document_.root(), settings}) {
    const Value overflowed = per_device(document_.get(place, "trace_alloc_overflowed"), device);
    const Value entries = per_device(document_.get(place, "trace_alloc_max_entries"), device);
    if (const auto flag = document_.to_boolean(overflowed)) out_.timeline.overflowed = *flag;
    if (const auto count = document_.to_unsigned(entries)) out_.timeline.max_entries = *count;
  }
}

}  // namespace

Result<Snapshot> read_snapshot(std::span<const std::byte> input, const SnapshotOptions& options) {
  const auto document = pickle::read(input);
  if (!document) return tl::unexpected<Error>(document.error());
  return Reader(*document, options).run();
}

Result<Snapshot> read_snapshot_file(const std::string& path, const SnapshotOptions& options) {
  const auto file = MappedFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  auto snapshot = read_snapshot(file->bytes(), options);
  if (!snapshot) snapshot.error().where = path + (snapshot.error().where.empty() ? "" : ", " + snapshot.error().where);
  if (snapshot && snapshot->damage) snapshot->damage->where = path + ", " + snapshot->damage->where;
  return snapshot;
}

}  // namespace ullage::ingest
