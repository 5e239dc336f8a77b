// SPDX-License-Identifier: Apache-2.0
#include "timeline/trace.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ullage::timeline {

namespace {

template <class T>
void permute(std::vector<T>& column, const std::vector<std::uint32_t>& order) {
  if (column.size() != order.size()) return;
  std::vector<T> sorted;
  sorted.reserve(column.size());
  for (const std::uint32_t i : order) sorted.push_back(column[i]);
  column.swap(sorted);
}

template <class Key>
std::vector<std::uint32_t> order_by(std::size_t count, Key key) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, key);
  return order;
}

bool on_host(CallKind kind) {
  return kind < CallKind::kernel;
}

void sort_calls(Calls& calls) {
  const auto order = order_by(calls.count(), [&](std::uint32_t i) {
    return std::tuple(calls.thread[i], !on_host(calls.kind[i]), calls.begin_ns[i], -calls.end_ns[i]);
  });
  permute(calls.name, order);
  permute(calls.begin_ns, order);
  permute(calls.end_ns, order);
  permute(calls.thread, order);
  permute(calls.external, order);
  permute(calls.sequence, order);
  permute(calls.shapes, order);
  permute(calls.stack, order);
  permute(calls.kind, order);
  permute(calls.forward_thread, order);
}

void sort_memory(MemoryEvents& memory) {
  const auto order = order_by(memory.count(), [&](std::uint32_t i) { return memory.time_ns[i]; });
  permute(memory.time_ns, order);
  permute(memory.bytes, order);
  permute(memory.address, order);
  permute(memory.allocated, order);
  permute(memory.reserved, order);
  permute(memory.thread, order);
  permute(memory.device, order);
}

// Walks one thread's calls and memory events in the order of time with the stack of what is open.
class ThreadWalk {
 public:
  explicit ThreadWalk(Trace& trace) : calls_(trace.calls), memory_(trace.memory) {}

  void run(CallId first, CallId last, const std::vector<std::uint32_t>& events) {
    open_.clear();
    auto event = events.begin();
    for (CallId call = first; call < last; ++call) {
      for (; event != events.end() && memory_.time_ns[*event] < calls_.begin_ns[call]; ++event) place(*event);
      leave_until(calls_.begin_ns[call]);
      calls_.parent[call] = open_.empty() ? no_call : open_.back();
      open_.push_back(call);
    }
    for (; event != events.end(); ++event) place(*event);
  }

 private:
  void leave_until(std::int64_t time) {
    while (!open_.empty() && calls_.end_ns[open_.back()] <= time) open_.pop_back();
  }
  void place(std::uint32_t event) {
    while (!open_.empty() && calls_.end_ns[open_.back()] < memory_.time_ns[event]) open_.pop_back();
    memory_.call[event] = open_.empty() ? no_call : open_.back();
  }

  Calls& calls_;
  MemoryEvents& memory_;
  std::vector<CallId> open_;
};

}  // namespace

void Calls::push_back(const Call& call) {
  name.push_back(call.name);
  begin_ns.push_back(call.begin_ns);
  end_ns.push_back(call.end_ns);
  thread.push_back(call.thread);
  external.push_back(call.external);
  sequence.push_back(call.sequence);
  shapes.push_back(call.shapes);
  stack.push_back(call.stack);
  kind.push_back(call.kind);
  forward_thread.push_back(call.forward_thread);
}

void MemoryEvents::push_back(const MemoryEvent& event) {
  time_ns.push_back(event.time_ns);
  bytes.push_back(event.bytes);
  address.push_back(event.address);
  allocated.push_back(event.allocated);
  reserved.push_back(event.reserved);
  thread.push_back(event.thread);
  device.push_back(event.device);
}

std::uint32_t Trace::thread_index(std::uint64_t thread) {
  const auto it = std::ranges::find(threads, thread);
  const auto index = static_cast<std::uint32_t>(it - threads.begin());
  if (it == threads.end()) threads.push_back(thread);
  return index;
}

void link(Trace& trace) {
  sort_calls(trace.calls);
  sort_memory(trace.memory);
  Calls& calls = trace.calls;
  calls.parent.assign(calls.count(), no_call);
  trace.memory.call.assign(trace.memory.count(), no_call);
  std::vector<std::vector<std::uint32_t>> events(trace.threads.size());
  for (std::uint32_t i = 0; i < trace.memory.count(); ++i) events[trace.memory.thread[i]].push_back(i);
  ThreadWalk walk(trace);
  for (CallId first = 0; first < calls.count();) {
    const std::uint32_t thread = calls.thread[first];
    CallId host = first;
    while (host < calls.count() && calls.thread[host] == thread && on_host(calls.kind[host])) ++host;
    walk.run(first, host, events[thread]);
    for (first = host; first < calls.count() && calls.thread[first] == thread;) ++first;
  }
}

}  // namespace ullage::timeline
