// SPDX-License-Identifier: Apache-2.0
// Any bytes: read as a snapshot, rewound, replayed, compared, labelled and charted, and its segments shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "attribution/bare_labels.hpp"
#include "ingest/snapshot/snapshot.hpp"
#include "ledger/segments.hpp"
#include "timeline/intervals.hpp"

namespace {

void chart_everything(const ullage::ingest::Snapshot& snapshot, const ullage::timeline::InitialState& initial) {
  using namespace ullage;
  const timeline::Allocations allocations = timeline::allocations(snapshot.timeline, initial);
  attribution::BareEvidence bare{&snapshot.timeline, &allocations, {}};
  for (const auto& annotation : snapshot.annotations)
    bare.annotations.push_back({annotation.name, annotation.start, annotation.time_us});
  const attribution::Labels labels = attribution::label_bare(bare);
  ledger::Cut cut;
  cut.timeline = &snapshot.timeline;
  cut.allocations = &allocations;
  cut.labels = &labels;
  cut.events = snapshot.timeline.events.count() / 2;
  constexpr ledger::Level levels[] = {ledger::Level::kind, ledger::Level::line, ledger::Level::block};
  if (!ledger::check(ledger::chart(cut, levels)).empty()) std::abort();
  if (!ledger::check(ledger::segments_at(cut, initial)).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ullage;
  const auto snapshot = ingest::read_snapshot(std::as_bytes(std::span(data, size)));
  if (!snapshot) return 0;
  const timeline::Timeline& t = snapshot->timeline;
  const timeline::InitialState initial = timeline::settled_initial_state(t);
  timeline::BlockReplay replay(t, initial);
  while (replay.step()) {
    const timeline::Counters& now = replay.now();
    if (now.allocated > now.active) std::abort();
  }
  timeline::compare_with_source(replay, t);
  (void)replay.live_blocks();
  for (std::size_t stack = 0; stack < t.stacks.stack_count(); ++stack) {
    timeline::user_line(t, static_cast<timeline::StackId>(stack));
  }
  chart_everything(*snapshot, initial);
  return 0;
}
