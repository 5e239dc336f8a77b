// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/streams.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

using namespace ullage::vgpu;

namespace {

TEST(Streams, WorkOnOneStreamIsInOrder) {
  Streams streams;
  const StreamId s = streams.create(0, 0);
  const Interval first = streams.submit(100, s);
  const Interval second = streams.submit(50, s);
  EXPECT_EQ(second.start_ns, first.end_ns);
  EXPECT_EQ(second.end_ns, 150u);
}

TEST(Streams, TwoStreamsOverlap) {
  Streams streams;
  EXPECT_EQ(streams.submit(100, streams.create(0, 0)).end_ns, 100u);
  EXPECT_EQ(streams.submit(60, streams.create(0, 0)).end_ns, 60u);
}

TEST(Streams, AnEventIsDoneOnlyWhenItsTimeHasPassed) {
  Streams streams;
  const StreamId s = streams.create(0, 0);
  const EventId e = streams.create_event(0, 42);
  EXPECT_EQ(streams.query_event(e), Status::ok) << "never recorded";
  streams.submit(10'000, s);
  streams.record(e, s);
  EXPECT_EQ(streams.query_event(e), Status::not_ready);
  for (int i = 0; i < 3; ++i) streams.advance();
  EXPECT_EQ(streams.query_event(e), Status::not_ready);
  streams.advance();
  EXPECT_EQ(streams.query_event(e), Status::ok);
}

TEST(Streams, AWaitDelaysTheWaitingStream) {
  Streams streams;
  const StreamId a = streams.create(0, 0), b = streams.create(0, 0);
  const EventId e = streams.create_event(0, 1);
  streams.submit(500, a);
  streams.record(e, a);
  ASSERT_EQ(streams.wait(b, e), Status::ok);
  EXPECT_EQ(streams.submit(10, b).start_ns, 500u);
}

TEST(Streams, SynchronisingJumpsTheHost) {
  Streams streams;
  const StreamId s = streams.create(0, 0);
  streams.submit(1000, s);
  std::uint64_t waited = 0;
  ASSERT_EQ(streams.synchronize(s, &waited), Status::ok);
  EXPECT_EQ(waited, 1000u);
  EXPECT_EQ(streams.now(), 1000u);
  EXPECT_EQ(streams.query(s), Status::ok);
}

TEST(Streams, ElapsedTimeIsTheDifference) {
  Streams streams;
  const StreamId s = streams.create(0, 0);
  const EventId a = streams.create_event(0, 1), b = streams.create_event(0, 2);
  float ms = 0;
  EXPECT_EQ(streams.elapsed_ms(a, b, &ms), Status::invalid_handle);
  streams.record(a, s);
  streams.submit(2'500'000, s);
  streams.record(b, s);
  EXPECT_EQ(streams.elapsed_ms(a, b, &ms), Status::not_ready);
  streams.synchronize_device(nullptr);
  ASSERT_EQ(streams.elapsed_ms(a, b, &ms), Status::ok);
  EXPECT_FLOAT_EQ(ms, 2.5f);
}

TEST(Streams, UnknownHandlesAreInvalid) {
  Streams streams;
  EXPECT_EQ(streams.destroy(7), Status::invalid_handle);
  EXPECT_EQ(streams.record(9, 0), Status::invalid_handle);
  EXPECT_EQ(streams.query(3), Status::invalid_handle);
  EXPECT_EQ(streams.destroy(0), Status::invalid_handle) << "the default stream stays";
}

TEST(Capture, RecordsWorkInsteadOfDoingIt) {
  Streams streams;
  const StreamId s = streams.create(0, 0);
  ASSERT_EQ(streams.begin_capture(s, 0), Status::ok);
  streams.submit(300, s);
  streams.submit(200, s);
  std::uint64_t graph = 0, duration = 0, nodes = 0;
  ASSERT_EQ(streams.end_capture(s, &graph), Status::ok);
  ASSERT_TRUE(streams.graph(graph, &duration, &nodes));
  EXPECT_EQ(duration, 500u);
  EXPECT_EQ(nodes, 2u);
  EXPECT_EQ(streams.query(s), Status::ok) << "nothing ran";
}

TEST(Capture, AForkMustJoin) {
  Streams streams;
  const StreamId s = streams.create(0, 0), side = streams.create(0, 0);
  const EventId fork = streams.create_event(0, 1), join = streams.create_event(0, 2);
  std::uint64_t graph = 0;
  streams.begin_capture(s, 0);
  streams.record(fork, s);
  streams.wait(side, fork);
  EXPECT_EQ(streams.capture_state(side, nullptr, nullptr), CaptureState::active);
  streams.submit(10, side);
  EXPECT_EQ(streams.end_capture(s, &graph), Status::capture_unjoined);
  streams.begin_capture(s, 0);
  streams.record(fork, s);
  streams.wait(side, fork);
  streams.submit(10, side);
  streams.record(join, side);
  streams.wait(s, join);
  EXPECT_EQ(streams.end_capture(s, &graph), Status::ok);
  EXPECT_EQ(streams.capture_state(side, nullptr, nullptr), CaptureState::none);
}

TEST(Capture, SynchronisingACapturingStreamInvalidatesIt) {
  Streams streams;
  const StreamId s = streams.create(0, 0);
  std::uint64_t graph = 0;
  streams.begin_capture(s, 0);
  EXPECT_EQ(streams.synchronize(s, nullptr), Status::not_permitted);
  EXPECT_EQ(streams.capture_state(s, nullptr, nullptr), CaptureState::invalidated);
  EXPECT_EQ(streams.end_capture(s, &graph), Status::not_permitted);
  EXPECT_EQ(streams.begin_capture(0, 0), Status::capture_implicit);
}

// Random programs of work, records, waits and synchronisations over three streams: per stream, work never overlaps and
// never starts before the host submitted it; what waits for an event starts after it; the host's time never runs back.
RC_GTEST_PROP(Streams, OrderIsAlwaysRight,
              (const std::vector<std::tuple<std::uint8_t, std::uint8_t, std::uint16_t>>& program)) {
  Streams streams;
  const StreamId ids[3] = {0, streams.create(0, 0), streams.create(0, 0)};
  std::uint64_t ends[3] = {0, 0, 0};
  const EventId event = streams.create_event(0, 1);
  std::uint64_t event_time = 0, now = 0;
  bool recorded = false;
  for (const auto& [action, which, duration] : program) {
    const int s = which % 3;
    streams.advance();
    switch (action % 4) {
      case 0: {
        const Interval work = streams.submit(duration, ids[s]);
        RC_ASSERT(work.start_ns >= ends[s] && work.start_ns >= streams.now());
        RC_ASSERT(work.end_ns - work.start_ns == duration);
        ends[s] = work.end_ns;
        break;
      }
      case 1:
        streams.record(event, ids[s]);
        event_time = std::max(ends[s], streams.now());
        recorded = true;
        break;
      case 2:
        streams.wait(ids[s], event);
        if (recorded) ends[s] = std::max(ends[s], event_time);
        break;
      default:
        RC_ASSERT(streams.synchronize(ids[s], nullptr) == Status::ok);
        RC_ASSERT(streams.now() >= ends[s]);
    }
    RC_ASSERT(streams.now() >= now);
    now = streams.now();
    RC_ASSERT((streams.query_event(event) == Status::ok) == (!recorded || event_time <= now));
  }
}

}  // namespace
