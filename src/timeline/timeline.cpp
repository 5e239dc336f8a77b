// SPDX-License-Identifier: Apache-2.0
#include "timeline/timeline.hpp"

#include <algorithm>

#include "timeline/address_map.hpp"

namespace ullage::timeline {

StringTable::StringTable() {
  intern({});
}

StringId StringTable::intern(std::string_view text) {
  if (const auto it = index_.find(text); it != index_.end()) return it->second;
  const auto id = static_cast<StringId>(texts_.size());
  index_.emplace(texts_.emplace_back(text), id);
  return id;
}

std::size_t StackTable::FrameHash::operator()(const Frame& f) const {
  return static_cast<std::size_t>(mix((std::uint64_t{f.file} << 40) ^ (std::uint64_t{f.name} << 20) ^ f.line));
}

StackTable::StackTable() : begin_{0} {
  intern({});
}

FrameId StackTable::intern_frame(const Frame& frame) {
  const auto [it, added] = frame_index_.try_emplace(frame, static_cast<FrameId>(frames_.size()));
  if (added) frames_.push_back(frame);
  return it->second;
}

StackId StackTable::intern(std::span<const FrameId> frames) {
  std::uint64_t hash = frames.size();
  for (const FrameId id : frames) hash = mix(hash ^ id);
  const auto [from, to] = stack_index_.equal_range(hash);
  for (auto it = from; it != to; ++it) {
    if (std::ranges::equal(stack(it->second), frames)) return it->second;
  }
  const auto id = static_cast<StackId>(stack_count());
  flat_.insert(flat_.end(), frames.begin(), frames.end());
  begin_.push_back(flat_.size());
  stack_index_.emplace(hash, id);
  return id;
}

void Events::push_back(const Event& event) {
  action.push_back(event.action);
  address.push_back(event.address);
  size.push_back(event.size);
  stream.push_back(event.stream);
  time_us.push_back(event.time_us);
  stack.push_back(event.stack);
}

void Events::reserve(std::size_t count) {
  action.reserve(count);
  address.reserve(count);
  size.reserve(count);
  stream.reserve(count);
  time_us.reserve(count);
  stack.reserve(count);
}

Event Events::at(std::size_t index) const {
  return {action[index], address[index], size[index], stream[index], time_us[index], stack[index]};
}

std::uint32_t Timeline::stream_index(std::uint64_t stream) {
  const auto it = std::ranges::find(streams, stream);
  const auto index = static_cast<std::uint32_t>(it - streams.begin());
  if (index == streams.size()) streams.push_back(stream);
  return index;
}

namespace {

bool is_python(std::string_view file) {
  return file.ends_with(".py") || (file.starts_with('<') && !file.starts_with("<frozen"));
}

bool in_packages(std::string_view file) {
  return file.find("/site-packages/") != file.npos || file.find("/dist-packages/") != file.npos;
}

bool in_torch(std::string_view file) {
  constexpr std::string_view skipped[] = {"/site-packages/torch/", "/dist-packages/torch/", "/ullage_hook/"};
  return std::ranges::any_of(skipped, [file](std::string_view part) { return file.find(part) != file.npos; });
}

}  // namespace

std::optional<std::size_t> last_out_of_memory(const Timeline& timeline) {
  const auto& actions = timeline.events.action;
  const auto last = std::ranges::find(actions.rbegin(), actions.rend(), Action::oom);
  if (last == actions.rend()) return std::nullopt;
  return static_cast<std::size_t>(actions.rend() - last) - 1;
}

UserLine user_line(const Timeline& timeline, StackId stack) {
  UserLine result;
  for (const FrameId id : timeline.stacks.stack(stack)) {
    const std::string_view file = timeline.strings.text(timeline.stacks.frame(id).file);
    if (!is_python(file) || in_torch(file)) continue;
    if (!result.outside_torch) result.outside_torch = id;
    if (in_packages(file)) continue;
    result.outside_packages = id;
    break;
  }
  return result;
}

std::optional<FrameId> outermost_own_frame(const Timeline& timeline, StackId stack) {
  const auto frames = timeline.stacks.stack(stack);
  const auto own = [&](FrameId id) {
    const std::string_view file = timeline.strings.text(timeline.stacks.frame(id).file);
    return is_python(file) && !in_torch(file) && !in_packages(file);
  };
  const auto found = std::ranges::find_if(frames.rbegin(), frames.rend(), own);
  return found == frames.rend() ? std::nullopt : std::optional(*found);
}

std::optional<FrameId> module_call(const Timeline& timeline, StackId stack) {
  std::optional<FrameId> result;
  bool in_module = false;
  for (const FrameId id : timeline.stacks.stack(stack)) {
    const std::string_view file = timeline.strings.text(timeline.stacks.frame(id).file);
    if (file.ends_with("/torch/nn/modules/module.py")) {
      in_module = true;
    } else if (in_module && is_python(file) && !in_torch(file)) {
      result = id;
      in_module = false;
    }
  }
  return result;
}

}  // namespace ullage::timeline
