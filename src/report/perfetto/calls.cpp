// SPDX-License-Identifier: Apache-2.0
#include "report/perfetto/calls.hpp"

#include "report/time_text.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace ullage::report::perfetto {
namespace {

using timeline::CallId;
using timeline::CallKind;

constexpr std::size_t most_calls = 200'000;
constexpr std::uint32_t calls_process = 10'000, device_process = 10'001;

// Python functions and calls of the runtime would bury the rest.
bool drawn(CallKind kind) {
  return kind != CallKind::python && kind != CallKind::runtime;
}

bool on_device(CallKind kind) {
  return kind == CallKind::kernel || kind == CallKind::copy;
}

const char* category_of(CallKind kind) {
  constexpr const char* names[] = {"operator", "annotation", "module", "python", "kernel", "copy", "runtime"};
  return names[static_cast<std::size_t>(kind)];
}

struct Span {
  std::int64_t begin_ns = 0, end_ns = 0;
};

std::optional<Span> span_of(const timeline::Trace& trace, CallId call) {
  const auto begin = clock_time(trace.base_ns, trace.calls.begin_ns[call]);
  const auto end = clock_time(trace.base_ns, trace.calls.end_ns[call]);
  if (!begin || !end || !drawn(trace.calls.kind[call])) return std::nullopt;
  return Span{*begin, std::max(*begin, *end)};
}

// How long a call must take to be drawn. What is left still nests.
std::int64_t shortest_drawn(const timeline::Trace& trace) {
  std::vector<std::int64_t> durations;
  for (CallId call = 0; call < trace.calls.count(); ++call) {
    if (const auto span = span_of(trace, call)) durations.push_back(span->end_ns - span->begin_ns);
  }
  if (durations.size() <= most_calls) return 0;
  const auto nth = durations.begin() + most_calls;
  std::ranges::nth_element(durations, nth, std::greater());
  return *nth + 1;
}

void name_rows(const timeline::Trace& trace, EventWriter& out) {
  std::set<std::pair<bool, std::uint32_t>> rows;
  for (CallId call = 0; call < trace.calls.count(); ++call) {
    if (span_of(trace, call)) rows.emplace(on_device(trace.calls.kind[call]), trace.calls.thread[call]);
  }
  std::set<bool> named;
  for (const auto& [device, thread] : rows) {
    const std::uint32_t process = device ? device_process : calls_process;
    if (named.insert(device).second) out.name_process(process, device ? "kernels and copies" : "operators and modules");
    const std::string number = std::to_string(trace.threads[thread]);
    out.name_thread({process, thread + 1}, (device ? "stream " : "thread ") + number);
  }
}

}  // namespace

std::optional<std::int64_t> first_call(const timeline::Trace& trace) {
  std::optional<std::int64_t> first;
  for (CallId call = 0; call < trace.calls.count(); ++call) {
    const auto span = span_of(trace, call);
    if (span && (!first || span->begin_ns < *first)) first = span->begin_ns;
  }
  return first;
}

void write_calls(const timeline::Trace& trace, EventWriter& out) {
  name_rows(trace, out);
  const std::int64_t shortest = shortest_drawn(trace);
  for (CallId call = 0; call < trace.calls.count(); ++call) {
    const auto span = span_of(trace, call);
    if (!span || span->end_ns - span->begin_ns < shortest) continue;
    const CallKind kind = trace.calls.kind[call];
    const Track track{on_device(kind) ? device_process : calls_process, trace.calls.thread[call] + 1};
    out.slice(track, trace.strings.text(trace.calls.name[call]), category_of(kind), span->begin_ns, span->end_ns,
              {{"shapes", trace.strings.text(trace.calls.shapes[call])}});
  }
}

}  // namespace ullage::report::perfetto
