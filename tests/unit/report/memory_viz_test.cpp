// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "export_fixture.hpp"
#include "ingest/snapshot/pickle.hpp"
#include "ingest/snapshot/snapshot.hpp"
#include "random_timeline.hpp"
#include "report/memory_viz/pickle_writer.hpp"

namespace ullage::report {
namespace {

using test::ExportFixture;
using timeline::Action;
using timeline::Timeline;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <class Write>
std::string pickled(Write write) {
  std::string text;
  Sink sink([&text](std::string_view piece) { text += piece; });
  PickleWriter writer(sink);
  write(writer);
  writer.finish();
  sink.flush();
  return text;
}

TEST(PickleWriter, IntegersComeBack) {
  EXPECT_TRUE(rc::check("signed and unsigned", [] {
    const int shift = *rc::gen::inRange(0, 64);
    const std::int64_t number = *rc::gen::arbitrary<std::int64_t>() >> shift;
    const std::uint64_t natural = *rc::gen::arbitrary<std::uint64_t>() >> shift;
    const std::string text = pickled([&](PickleWriter& w) {
      w.begin_list();
      w.next_item();
      w.integer(number);
      w.next_item();
      w.integer(natural);
      w.end_list();
    });
    const auto read = pickle::read(bytes_of(text));
    if (!read) RC_FAIL("not read");
    const auto items = read->items(read->root());
    RC_ASSERT(read->to_signed(items[0]) == number);
    RC_ASSERT(read->to_unsigned(items[1]) == natural);
  }));
}

TEST(PickleWriter, BordersOfIntegersAreWrittenAsPythonDoes) {
  const auto of = [](std::int64_t number) { return pickled([&](PickleWriter& w) { w.integer(number); }); };
  using namespace std::string_literals;
  EXPECT_EQ(of(255), "\x80\x04K\xff."s);
  EXPECT_EQ(of(256), "\x80\x04M\x00\x01."s);
  EXPECT_EQ(of(-1), "\x80\x04J\xff\xff\xff\xff."s);
  EXPECT_EQ(of(INT32_MAX), "\x80\x04J\xff\xff\xff\x7f."s);
  EXPECT_EQ(of(std::int64_t{1} << 31), "\x80\x04\x8a\x05\x00\x00\x00\x80\x00."s);
  EXPECT_EQ(of(-(std::int64_t{1} << 31) - 1), "\x80\x04\x8a\x05\xff\xff\xff\x7f\xff."s);
}

TEST(PickleWriter, LongListsAreWrittenInBatches) {
  const std::string text = pickled([](PickleWriter& w) {
    w.begin_list();
    for (int i = 0; i < 2500; ++i) {
      w.next_item();
      w.integer(std::int64_t{7});
    }
    w.end_list();
  });
  EXPECT_EQ(std::ranges::count(text, 'e'), 3);
  const auto read = pickle::read(bytes_of(text));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->items(read->root()).size(), 2500U);
}

TEST(MemoryViz, ATimelineComesBackEqual) {
  EXPECT_TRUE(rc::check("written, then read", [] {
    ExportFixture fixture;
    const int first = *rc::gen::inRange(0, 3);
    fixture.add(test::random_timeline(first));
    if (*rc::gen::arbitrary<bool>()) {
      Timeline other = test::random_timeline(first + *rc::gen::inRange(1, 3));
      other.settings = fixture.view.devices.front().timeline->settings;  // one allocator, one process
      fixture.add(std::move(other));
    }
    const std::string text = fixture.text(write_memory_viz);
    for (const DeviceHistory& device : fixture.view.devices) {
      const Timeline& wrote = *device.timeline;
      if (wrote.events.count() + wrote.segments.size() == 0) continue;
      const auto read = ingest::read_snapshot(bytes_of(text), {.device = wrote.device, .stacks = true});
      if (!read) RC_FAIL(read.error().what);
      RC_ASSERT(!read->damage);
      RC_ASSERT(read->bad_values == 0U);
      RC_ASSERT(test::difference(wrote, read->timeline) == "");
    }
  }));
}

Timeline two_blocks() {
  Timeline t;
  t.stream_index(0);
  const std::uint64_t base = 0x7f0000000000;
  t.events.push_back({Action::segment_alloc, base, 2 << 20, 0, 10, 0});
  t.events.push_back({Action::alloc, base, 1000, 0, 20, 0});
  t.events.push_back({Action::alloc, base + 1024, 512, 0, 30, 0});
  t.events.push_back({Action::free_requested, base + 1024, 512, 0, 40, 0});
  t.events.push_back({Action::free_completed, base + 1024, 512, 0, 40, 0});
  t.blocks = {{base, 1024, 1000, timeline::BlockState::allocated, 0},
              {base + 1024, (2 << 20) - 1024, 0, timeline::BlockState::inactive, 0}};
  t.segments = {{base, 2 << 20, 0, true, false, 0, 2}};
  return t;
}

/// The texts at a key of each event, "-" where there is none.
std::vector<std::string> texts_of(const std::string& pickle, const char* key) {
  const auto read = pickle::read(bytes_of(pickle));
  const auto events = read->items(read->items(read->get(read->root(), "device_traces"))[0]);
  std::vector<std::string> texts;
  for (const auto event : events) {
    const auto value = read->get(event, key);
    texts.emplace_back(value ? std::string(read->text(value)) : "-");
  }
  return texts;
}

TEST(MemoryViz, AllocationsCarryTheirCategory) {
  ExportFixture fixture;
  fixture.add(two_blocks());
  auto& labels = fixture.labels(0);
  labels.of[0].category = attribution::Category::optimizer_state;
  labels.of[0].module = labels.strings.intern("transformer.h.0");
  labels.of[1].category = attribution::Category::unattributed;
  const std::string text = fixture.text(write_memory_viz);
  EXPECT_EQ(texts_of(text, "category"), (std::vector<std::string>{"-", "optimizer_state", "unknown", "-", "-"}));
  const auto read = pickle::read(bytes_of(text));
  const auto events = read->items(read->items(read->get(read->root(), "device_traces"))[0]);
  const auto metadata = read->get(events[1], "user_metadata");
  EXPECT_EQ(read->text(read->get(metadata, "module")), "transformer.h.0");
  EXPECT_EQ(read->text(read->get(metadata, "category")), "optimizer_state");
  const auto block = read->items(read->get(read->items(read->get(read->root(), "segments"))[0], "blocks"))[0];
  EXPECT_EQ(read->text(read->get(block, "category")), "optimizer_state");
}

TEST(MemoryViz, SomeEventIsAlwaysUnknownForTheViewersSake) {
  ExportFixture fixture;
  fixture.add(two_blocks());
  for (auto& label : fixture.labels(0).of) label.category = attribution::Category::inputs;
  EXPECT_EQ(texts_of(fixture.text(write_memory_viz), "category"),
            (std::vector<std::string>{"unknown", "inputs", "inputs", "-", "-"}));
}

TEST(MemoryViz, OnlyCategorisedAllocationsHaveNoCategories) {
  ExportFixture fixture;
  Timeline t;
  t.stream_index(0);
  t.events.push_back({Action::alloc, 4096, 512, 0, 1, 0});
  fixture.add(std::move(t));
  fixture.labels(0).of[0].category = attribution::Category::inputs;
  EXPECT_EQ(texts_of(fixture.text(write_memory_viz), "category"), std::vector<std::string>{"-"});
}

}  // namespace
}  // namespace ullage::report
