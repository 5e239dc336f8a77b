// SPDX-License-Identifier: Apache-2.0
// Any bytes: read as a snapshot, rewound, replayed and compared.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ingest/snapshot/snapshot.hpp"
#include "timeline/intervals.hpp"

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
  return 0;
}
