// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace: read it, make its table of operators, place every call, label its allocations. The first byte
// chooses the options.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "attribution/places.hpp"
#include "attribution/trace_labels.hpp"
#include "ingest/kineto/kineto.hpp"
#include "ledger/operator_table.hpp"

namespace {

// Its memory events as allocations, with owners.
void label(ullage::timeline::Trace& trace) {
  using namespace ullage;
  const auto device = timeline::busiest_device(trace);
  if (!device) return;
  const auto made = timeline::timeline_of(trace, *device);
  if (made.time_ns.size() != made.timeline.events.count()) std::abort();
  const auto allocations = timeline::allocations(made.timeline, made.initial);
  const auto phases = attribution::phases_of(trace, made);
  if (phases.empty() || phases.back().end != made.time_ns.size()) std::abort();
  const auto labels = attribution::label_trace(trace, made, allocations, phases);
  if (labels.of.size() != allocations.count()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ullage;
  if (size == 0) return 0;
  const ingest::KinetoOptions options{(data[0] & 1) != 0, (data[0] & 2) != 0};
  auto trace = ingest::read_kineto(std::as_bytes(std::span(data + 1, size - 1)), "fuzz", options);
  if (!trace) return 0;
  timeline::Trace& t = trace->trace;
  attribution::Places places(t);
  for (timeline::CallId call = 0; call < t.calls.count(); ++call) (void)places.of(call);
  const auto table = ledger::operator_table(t, 0, [](timeline::CallId) { return std::string(); });
  std::uint64_t self = 0;
  for (const auto& row : table.rows) self += row.self_allocated;
  if (self != table.total.self_allocated) std::abort();
  label(t);
  return 0;
}
