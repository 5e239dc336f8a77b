// SPDX-License-Identifier: Apache-2.0
#include "ingest/snapshot/snapshot.hpp"

#include <gtest/gtest.h>

#include "pickle_writer.hpp"
#include "test_data.hpp"

namespace ullage::ingest {
namespace {

using test::bytes_of;
using test::PickleWriter;

PickleWriter two_devices() {
  PickleWriter w;
  w.op('}').op('(').text("segments").op(']').op('(');
  w.op('}').op('(').pair("device", std::uint64_t{1}).pair("address", 4096).pair("total_size", 2048);
  w.text("blocks").op(']').op('(').op('}').op('(').pair("size", 512).pair("state", "active_awaiting_free").op('u');
  w.op('}').op('(').pair("size", 1536).pair("state", "inactive").op('u').op('e').op('u').op('e');
  w.text("device_traces").op(']').op('(').op(']').op(']').op('(');
  w.op('}').op('(').pair("action", "alloc").pair("addr", 4096).pair("size", 100).pair("new_key", 1).op('u');
  w.op('}').op('(').pair("action", "annotate").pair("addr", 4096).op('u').op('e').op('e');
  return w;
}

TEST(Snapshot, ChoosesTheDeviceWithEventsAndListsAll) {
  const std::string text = two_devices().op('u').finish();
  const auto snapshot = read_snapshot(bytes_of(text));
  ASSERT_TRUE(snapshot) << snapshot.error().what;
  EXPECT_EQ(snapshot->timeline.device, 1);
  EXPECT_EQ(snapshot->devices, std::vector<int>({1}));
  EXPECT_EQ(snapshot->timeline.events.count(), 2u);
  EXPECT_EQ(snapshot->timeline.events.at(0).size, 100u);
}

TEST(Snapshot, UnknownActionsStayAsOpaqueEvents) {
  const std::string text = two_devices().op('u').finish();
  const auto snapshot = read_snapshot(bytes_of(text));
  EXPECT_EQ(snapshot->timeline.events.at(1).action, timeline::Action::other);
  EXPECT_EQ(snapshot->unknown_actions, std::vector<std::string>({"annotate"}));
}

TEST(Snapshot, LegacyBlocksGetTheirAddressesFromTheirSizes) {
  const std::string text = two_devices().op('u').finish();
  const auto snapshot = read_snapshot(bytes_of(text));
  ASSERT_EQ(snapshot->timeline.blocks.size(), 2u);
  EXPECT_EQ(snapshot->timeline.blocks[1].address, 4096u + 512u);
  EXPECT_EQ(snapshot->timeline.blocks[0].state, timeline::BlockState::pending_free);
}

TEST(Snapshot, AMissingDeviceNamesThoseThatAreThere) {
  const std::string text = two_devices().op('u').finish();
  const auto snapshot = read_snapshot(bytes_of(text), {.device = 3, .stacks = true});
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().kind, ErrorKind::usage);
  EXPECT_NE(snapshot.error().expected.find('1'), std::string::npos);
}

TEST(Snapshot, ReadsTheRingsOverflow) {
  auto w = two_devices();
  w.text("trace_alloc_overflowed").op(']').op('(').op('\x89').op('\x88').op('e').pair("trace_alloc_max_entries", 7);
  const std::string text = w.op('u').finish();
  const auto snapshot = read_snapshot(bytes_of(text));
  EXPECT_TRUE(snapshot->timeline.overflowed);
  EXPECT_EQ(snapshot->timeline.max_entries, 7u);
}

TEST(Snapshot, OtherPicklesAreNoSnapshots) {
  const std::string text = PickleWriter().op('}').finish();
  EXPECT_FALSE(read_snapshot(bytes_of(text)));
}

TEST(Snapshot, ASegmentNamedTwiceIsReadOnce) {
  PickleWriter w;
  w.op(']').op('(').op('}').op('q').op('\0').op('(').pair("address", 1).pair("total_size", 512).op('u');
  for (int i = 0; i < 1000; ++i) w.op('h').op('\0');
  const std::string text = w.op('e').finish();
  const auto snapshot = read_snapshot(bytes_of(text));
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->timeline.segments.size(), 1u);
  EXPECT_EQ(snapshot->bad_values, 1000u);
}

TEST(Snapshot, AMissingFileIsAnIoErrorWithItsPath) {
  const auto snapshot = read_snapshot_file("/nonexistent/file");
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().kind, ErrorKind::io);
  EXPECT_EQ(snapshot.error().where, "/nonexistent/file");
}

}  // namespace
}  // namespace ullage::ingest
