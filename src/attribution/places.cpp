// SPDX-License-Identifier: Apache-2.0
#include "attribution/places.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ullage::attribution {

using timeline::CallId;
using timeline::CallKind;
using timeline::no_call;

namespace {

constexpr std::uint32_t no_thread = 0xffffffffU;
constexpr std::int64_t tolerance_us = 2000;

std::uint64_t key_of(std::uint32_t thread, std::int32_t sequence) {
  return std::uint64_t{thread} << 32 | static_cast<std::uint32_t>(sequence);
}

}  // namespace

std::string_view node_name(std::string_view call_name) {
  constexpr std::string_view engine = "autograd::engine::evaluate_function: ";
  if (!call_name.starts_with(engine)) return {};
  call_name.remove_prefix(engine.size());
  constexpr std::string_view scope = "torch::autograd::";
  if (call_name.starts_with(scope)) call_name.remove_prefix(scope.size());
  return call_name;
}

std::string_view dotted_name(std::string_view call_name) {
  const auto bar = call_name.find('|');
  return bar == 0 ? call_name.substr(1) : call_name.substr(0, bar);
}

namespace {

// Of the profiler's own ranges too, `nn.Module: GPT2Block_0`.
std::string_view module_name(std::string_view call_name) {
  constexpr std::string_view profiler = "nn.Module: ";
  if (call_name.starts_with(profiler)) call_name.remove_prefix(profiler.size());
  return dotted_name(call_name);
}

std::string operation_text(const timeline::Trace& trace, const Place& place) {
  const auto name = [&](CallId call) { return trace.strings.text(trace.calls.name[call]); };
  const bool backward = place.node != no_call && !place.recomputed;
  if (place.operation != no_call) return std::string(name(place.operation)) + (backward ? " backward" : "");
  if (!backward) return {};
  const std::string_view node = node_name(name(place.node));
  return std::string(node.empty() ? name(place.node) : node);
}

}  // namespace

void take_place(const timeline::Trace& trace, const Place& place, Labels& labels, timeline::AllocationId id) {
  Label& label = labels.of[id];
  if (place.module != no_call && label.module == 0)
    label.module = labels.strings.intern(module_name(trace.strings.text(trace.calls.name[place.module])));
  label.operation = labels.strings.intern(operation_text(trace, place));
}

Places::Places(const timeline::Trace& trace) : trace_(trace), thread_of_forward_(256, no_thread) {
  const auto& calls = trace.calls;
  for (CallId i = 0; i < calls.count(); ++i) {
    named_nodes_ |= !node_name(trace.strings.text(calls.name[i])).empty();
    if (calls.sequence[i] >= 0 && calls.forward_thread[i] == 0)
      by_sequence_[key_of(calls.thread[i], calls.sequence[i])] = i;
  }
  learn_threads();
  for (CallId i = 0; i < calls.count(); ++i) {
    if (calls.sequence[i] < 0 || calls.forward_thread[i] == 0) continue;
    const std::uint32_t thread = thread_of_forward_[calls.forward_thread[i]];
    if (thread != no_thread) ran_.insert(key_of(thread, calls.sequence[i]));
  }
}

CallId Places::forward_with(std::uint32_t thread, std::int32_t sequence) const {
  const auto found = by_sequence_.find(key_of(thread, sequence));
  return found == by_sequence_.end() ? no_call : found->second;
}

bool Places::ran(std::uint32_t thread, std::int32_t sequence) const {
  return ran_.contains(key_of(thread, sequence));
}

// PyTorch numbers threads by itself: a thread votes for a number with each forward call whose sequence number the
// number's nodes have.
void Places::learn_threads() {
  const auto& calls = trace_.calls;
  std::vector<std::vector<std::uint32_t>> votes(256, std::vector<std::uint32_t>(trace_.threads.size()));
  for (CallId i = 0; i < calls.count(); ++i) {
    if (calls.sequence[i] < 0 || calls.forward_thread[i] == 0) continue;
    for (std::uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      const auto found = by_sequence_.find(key_of(thread, calls.sequence[i]));
      if (found != by_sequence_.end() && calls.begin_ns[found->second] < calls.begin_ns[i])
        ++votes[calls.forward_thread[i]][thread];
    }
  }
  assign_threads(votes);
}

// The clearest number first; each thread has one number.
void Places::assign_threads(std::vector<std::vector<std::uint32_t>>& votes) {
  for (;;) {
    std::size_t best = 0, at = 0;
    for (std::size_t number = 1; number < votes.size(); ++number) {
      if (votes[number].empty()) continue;
      const auto most = static_cast<std::size_t>(std::ranges::max_element(votes[number]) - votes[number].begin());
      if (votes[number][most] > 0 && (best == 0 || votes[number][most] > votes[best][at])) best = number, at = most;
    }
    if (best == 0) return;
    thread_of_forward_[best] = static_cast<std::uint32_t>(at);
    votes[best].clear();
    for (auto& row : votes) {
      if (!row.empty()) row[at] = 0;
    }
  }
}

bool Places::is_node(CallId call) const {
  const auto& calls = trace_.calls;
  if (named_nodes_) return !node_name(trace_.strings.text(calls.name[call])).empty();
  return calls.kind[call] == CallKind::operation && calls.sequence[call] >= 0 && calls.forward_thread[call] != 0;
}

CallId Places::forward_of(CallId node) const {
  const auto& calls = trace_.calls;
  const std::uint32_t thread = thread_of_forward_[calls.forward_thread[node]];
  if (thread == no_thread || calls.sequence[node] < 0) return no_call;
  const auto found = by_sequence_.find(key_of(thread, calls.sequence[node]));
  return found == by_sequence_.end() || calls.begin_ns[found->second] >= calls.begin_ns[node] ? no_call : found->second;
}

Place Places::walk(CallId call) {
  const auto& calls = trace_.calls;
  Place place;
  for (CallId at = call; at != no_call; at = calls.parent[at]) {
    const bool engine = is_node(at);
    if (calls.kind[at] == CallKind::module) {
      if (place.module == no_call) place.module = at;
    } else if (calls.kind[at] == CallKind::annotation) {
      if (place.annotation == no_call) place.annotation = at;
    } else if (engine) {
      if (place.node == no_call) place.node = at;
    } else if (calls.kind[at] == CallKind::operation && place.node == no_call && place.module == no_call) {
      place.outermost = at;
    }
  }
  return place;
}

Place Places::of(CallId call) {
  if (call == no_call) return {};
  if (const auto found = known_.find(call); found != known_.end()) return found->second;
  Place place = walk(call);
  place.operation = place.outermost;
  if (place.node != no_call) {
    place.recomputed = place.module != no_call;
    const CallId forward = place.recomputed ? no_call : forward_of(place.node);
    if (forward != no_call) {
      const Place caused = walk(forward);
      place.module = caused.module;
      place.operation = caused.outermost;
    }
  }
  known_.emplace(call, place);
  return place;
}

std::vector<CallId> calls_of(const timeline::Allocations& allocations, const timeline::Timeline& timeline,
                             const timeline::Trace& trace) {
  std::vector<CallId> result(allocations.count(), no_call);
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> events;
  const auto& memory = trace.memory;
  for (std::uint32_t i = 0; i < memory.count(); ++i) {
    if (memory.bytes[i] > 0 && memory.device[i] == timeline.device) events[memory.address[i]].push_back(i);
  }
  const auto time_of = [&](std::uint32_t i) { return (trace.base_ns + memory.time_ns[i]) / 1000; };
  for (std::size_t id = allocations.before_trace; id < allocations.count(); ++id) {
    const auto found = events.find(allocations.address[id]);
    if (found == events.end()) continue;
    const std::int64_t time = timeline.events.time_us[allocations.born[id]];
    const auto after = std::ranges::lower_bound(found->second, time, {}, time_of);
    auto best = after;
    if (after == found->second.end() ||
        (after != found->second.begin() && time - time_of(*std::prev(after)) < time_of(*after) - time))
      best = std::prev(after);
    if (std::abs(time_of(*best) - time) <= tolerance_us) result[id] = memory.call[*best];
  }
  return result;
}

}  // namespace ullage::attribution
