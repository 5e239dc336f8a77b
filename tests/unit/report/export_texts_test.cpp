// SPDX-License-Identifier: Apache-2.0
// Perfetto and CSV: small texts in full, large ones by what must hold.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidjson/document.h>

#include "export_fixture.hpp"
#include "random_timeline.hpp"

namespace ullage::report {
namespace {

using test::ExportFixture;
using timeline::Action;
using timeline::Timeline;

Timeline one_block(const std::string& file) {
  Timeline t;
  t.stream_index(7);
  const timeline::FrameId frame = t.stacks.intern_frame({t.strings.intern(file), t.strings.intern("step"), 3});
  const timeline::FrameId frames[] = {frame};
  const timeline::StackId stack = t.stacks.intern(frames);
  t.events.push_back({Action::segment_alloc, 4096, 2 << 20, 0, 1000, 0});
  t.events.push_back({Action::alloc, 4096, 1000, 0, 1010, stack});
  t.events.push_back({Action::oom, 0, 1 << 30, 0, 1020, stack});
  t.events.push_back({Action::free_requested, 4096, 1000, 0, 1030, 0});
  t.events.push_back({Action::free_completed, 4096, 1000, 0, 1030, 0});
  t.segments = {{4096, 2 << 20, 0, true, false, 0, 1}};
  t.blocks = {{4096, 2 << 20, 0, timeline::BlockState::inactive, 0}};
  return t;
}

ExportFixture labelled(const std::string& file) {
  ExportFixture fixture;
  DeviceHistory& history = fixture.add(one_block(file));
  history.phases = {{attribution::PhaseName::load, 0, 0, 0, 1}, {attribution::PhaseName::forward, 1, 1, 1, 5}};
  auto& labels = fixture.labels(0);
  labels.of[0] = {
      attribution::Category::inputs,      attribution::AttributedBy::named, labels.strings.intern("batch"), 0, 0,
      labels.strings.intern("x \"1\", y")};
  fixture.view.source = "s";
  return fixture;
}

TEST(Csv, ARowPerAllocation) {
  EXPECT_EQ(labelled("t,r\nain.py").text(write_csv),
            "id,device,stream,address,requested_bytes,block_bytes,born_event,freed_event,born_us,freed_us,phase,step,"
            "category,kind,module,operator,tensor,line,attributed_by\n"
            "0,0,7,0x1000,1000,1024,1,3,1010,1030,forward,1,inputs,batch,,,\"x \"\"1\"\", y\",\"t,r\nain.py:3 "
            "step\",named\n");
}

TEST(Csv, ARowPerSampleOfACounter) {
  timeline::Series series;
  series.add(-1, 5);
  series.add(1500, 6);
  ExportView view;
  view.counters = {{"used", "0", "12", "a, b", &series, true}};
  std::string text;
  Sink sink([&text](std::string_view piece) { text += piece; });
  write_csv(view, sink);
  EXPECT_EQ(text,
            "counter,gpu,pid,process,sample,time_us,bytes\nused,0,12,\"a, b\",0,,5\nused,0,12,\"a, b\",1,1.500,6\n");
}

TEST(Perfetto, ASmallHistoryInFull) {
  EXPECT_EQ(labelled("train.py").text(write_perfetto),
            R"({"displayTimeUnit":"ms","otherData":{"source":"s","time_origin_us":"1000"},"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"memory of device 0"}},
{"ph":"C","name":"allocated","pid":1,"tid":0,"ts":0,"args":{"bytes":0}},
{"ph":"C","name":"reserved","pid":1,"tid":0,"ts":0,"args":{"bytes":0}},
{"ph":"C","name":"allocated:","pid":1,"tid":0,"ts":0,"args":{"inputs":0,"rounding to blocks":0}},
{"ph":"C","name":"reserved","pid":1,"tid":0,"ts":0,"args":{"bytes":2097152}},
{"ph":"C","name":"allocated","pid":1,"tid":0,"ts":10,"args":{"bytes":1024}},
{"ph":"C","name":"allocated:","pid":1,"tid":0,"ts":10,"args":{"inputs":1000,"rounding to blocks":24}},
{"ph":"C","name":"allocated","pid":1,"tid":0,"ts":30,"args":{"bytes":0}},
{"ph":"C","name":"allocated:","pid":1,"tid":0,"ts":30,"args":{"inputs":0,"rounding to blocks":0}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"phases"}},
{"ph":"X","name":"load","pid":1,"tid":2,"cat":"phase","ts":0,"dur":10},
{"ph":"X","name":"step 1 forward","pid":1,"tid":2,"cat":"phase","ts":10,"dur":20},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"steps"}},
{"ph":"X","name":"step 1","pid":1,"tid":1,"cat":"step","ts":10,"dur":20},
{"ph":"M","name":"thread_name","pid":1,"tid":4,"args":{"name":"out of memory"}},
{"ph":"i","name":"out of memory: 1.00 GiB requested","pid":1,"tid":4,"ts":20,"s":"t","args":{"requested_bytes":1073741824,"line":"train.py:3 step"}}
]}
)");
}

TEST(Perfetto, CurvesAddUpAndTheJsonIsValidWhateverTheNames) {
  EXPECT_TRUE(rc::check("allocated is the sum of its parts", [] {
    ExportFixture fixture;
    DeviceHistory& history = fixture.add(test::random_timeline(0));
    const std::string name = test::random_text() + "\xff\xfe";
    history.annotations = {{name, true, 5}, {name, false, 9}};
    rapidjson::Document document;
    document.Parse(fixture.text(write_perfetto).c_str());
    RC_ASSERT(!document.HasParseError());
    std::uint64_t allocated = 0, sum = 0;
    for (const auto& event : document["traceEvents"].GetArray()) {
      if (event["name"] == "allocated") allocated = event["args"]["bytes"].GetUint64();
      if (event["name"] != "allocated:") continue;
      sum = 0;
      for (const auto& part : event["args"].GetObject()) sum += part.value.GetUint64();
      RC_ASSERT(sum == allocated);
    }
  }));
}

TEST(Perfetto, ALongHistoryIsBoundedAndKeepsItsPeak) {
  Timeline t;
  t.stream_index(0);
  for (std::uint64_t i = 0; i < 150'000; ++i) {
    const std::uint64_t size = i == 70'001 ? 1 << 20 : 512;
    t.events.push_back({Action::alloc, 1 << 30, size, 0, static_cast<std::int64_t>(1 + 2 * i), 0});
    t.events.push_back({Action::free_completed, 1 << 30, size, 0, static_cast<std::int64_t>(2 + 2 * i), 0});
  }
  ExportFixture fixture;
  fixture.add(std::move(t));
  const std::string text = fixture.text(write_perfetto);
  EXPECT_LT(std::ranges::count(text, '\n'), 210'000);
  EXPECT_NE(text.find("{\"bytes\":1048576}"), text.npos);
}

TEST(Perfetto, CountersOfASeriesBeginAtTheirFirstTime) {
  timeline::Series series;
  series.add(-1, 5);
  series.add(1'000'000, 6);
  series.add(2'500'000, 7);
  ExportView view;
  view.counters = {{"parameters", "", "", "", &series, true}};
  std::string text;
  Sink sink([&text](std::string_view piece) { text += piece; });
  write_perfetto(view, sink);
  EXPECT_NE(text.find("\"ts\":0,\"args\":{\"bytes\":5}"), text.npos);
  EXPECT_NE(text.find("\"ts\":1500,\"args\":{\"bytes\":7}"), text.npos);
}

}  // namespace
}  // namespace ullage::report
