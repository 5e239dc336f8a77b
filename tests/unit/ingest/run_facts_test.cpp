// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/run_facts.hpp"

#include <gtest/gtest.h>

#include "marks_writer.hpp"

namespace ullage::ingest {
namespace {

using test::line;

const std::string whole =
    line(R"({"kind":"process","pid":7,"argv":["train.py","--x"],"torch":"2.11.0","cudnn":91002,"cuda":null})") +
    line(R"({"kind":"history","stacks":"python","max_entries":100,"device":0,"allocs":3,"frees":1})") +
    test::mark(0, "load_begin", 0, test::counters(3, 1, {})) +
    line(
        R"({"kind":"tensors","index":0,"complete":["parameter"],"tensors":[["parameter","w",null,"float32",4096,100,null],)"
        R"(["optimizer_state","w","exp_avg","float32",8192,100,0],["new","w",null,"",1,1,null],[1]]})") +
    line(
        R"({"kind":"oom","requested_bytes":5,"step":2,"phase":"forward","module":null,"line":"a.py:3 f","text":null})") +
    line(R"({"kind":"caught_oom","count":2})") + line(R"({"kind":"exception","type":"E","text":"t","oom":true})") +
    line(R"({"kind":"stop","reason":"steps","steps":3})") + line(R"({"kind":"note","text":"n"})") +
    line(R"({"kind":"saw","what":"evaluation"})") + line(R"({"kind":"saw","what":"evaluation"})") +
    line(R"({"kind":"batch","step":1,"shapes":[[4,128]]})") + line(R"({"kind":"from the future","x":[{}]})") +
    line(R"({"kind":"end","status":"ok","snapshot":true})");

TEST(RunFacts, ReadsARecording) {
  const std::string mark =
      R"({"kind":"mark","index":1,"name":"step_end","step":1,"since_allocated":7,"since_reserved":8})";
  const RunFacts facts = read_run_facts(
      line(R"({"kind":"recording","name":"n","host":"h","rank":0,"world_size":4})") + line(mark) +
      line(R"({"kind":"history","stacks":"python","allocs":1})") + line(mark) + line(R"({"kind":"history_end"})") +
      line(mark) + line(R"({"kind":"device","number":1,"name":"G","total_bytes":99,"compute_capability":"8.0"})") +
      line(R"({"kind":"sample","time_ns":5,"resident_bytes":6,"process_used_bytes":3})") +
      line(R"({"kind":"tokens","step":1,"tokens":10,"effective":null})") +
      line(R"({"kind":"tokens","step":2,"tokens":10,"effective":9})") +
      line(R"({"kind":"left_out","step":2,"why":"profiler"})") + line(R"({"kind":"end","status":"ok","problems":3})"));
  EXPECT_EQ(facts.recording.value().rank, 0U);
  EXPECT_EQ(facts.recording.value().world_size, 4U);
  EXPECT_EQ(facts.marks.at(0).name, ledger::MarkName::step_end);
  EXPECT_TRUE(facts.marks.at(0).counters.since_known);
  EXPECT_EQ(facts.marks.at(0).counters.since_reserved, 8U);
  EXPECT_EQ(facts.history.value().marks_before, 1U);
  EXPECT_EQ(facts.history.value().marks_until, 2U);
  EXPECT_EQ(facts.device.value().total_bytes, 99U);
  EXPECT_EQ(facts.samples.at(0).process_used_bytes, 3U);
  EXPECT_EQ(facts.tokens.at(0).effective, std::nullopt);
  EXPECT_EQ(facts.tokens.at(1).effective, 9U);
  EXPECT_EQ(facts.left_out.at(0).why, "profiler");
  EXPECT_EQ(facts.end.value().problems, 3U);
  EXPECT_EQ(facts.bad_values, 0U);
}

TEST(RunFacts, WhatIsBehindTheDamageIsLost) {
  const std::string good = line(R"({"kind":"note","text":"n"})");
  const RunFacts facts = read_run_facts(good + "{\"c\":\"0000\n" + good);
  EXPECT_EQ(facts.records, 1U);
  EXPECT_EQ(facts.lost_bytes, 11 + good.size());
}

TEST(RunFacts, ReadsWhatFindingsNeed) {
  const RunFacts facts = read_run_facts(
      line(R"({"kind":"mark","index":1,"name":"forward_begin","grad_enabled":false,"training":true})") +
      line(R"({"kind":"mark","index":2,"name":"forward_end"})") +
      line(
          R"({"kind":"mask","step":1,"name":"attention_mask","rows":2,"columns":10,"kept":7,"kept_squared":25,"line":"t.py:3 f"})") +
      line(R"({"kind":"zero_grad","line":"t.py:9 f","set_to_none":false,"phase":"other","bytes":64})") +
      line(
          R"({"kind":"tensors","index":1,"complete":["parameter"],"tensors":[["parameter","w",null,"float32",512,64,null,false],)"
          R"(["parameter","v",null,"float32",1024,64,null,true],["parameter","u",null,"float32",2048,64,null]]})"));
  EXPECT_EQ(facts.marks.at(0).grad_enabled, false);
  EXPECT_EQ(facts.marks.at(0).training, true);
  EXPECT_EQ(facts.marks.at(1).grad_enabled, std::nullopt);
  EXPECT_EQ(facts.masks.at(0).kept_squared, 25U);
  EXPECT_EQ(facts.masks.at(0).line, "t.py:3 f");
  EXPECT_FALSE(facts.zero_grads.at(0).set_to_none);
  EXPECT_EQ(facts.zero_grads.at(0).phase, "other");
  EXPECT_EQ(facts.zero_grads.at(0).bytes, 64U);
  const auto& tensors = facts.lists.at(0).tensors;
  EXPECT_TRUE(tensors.at(0).frozen);
  EXPECT_FALSE(tensors.at(1).frozen);
  EXPECT_FALSE(tensors.at(2).frozen);
  EXPECT_EQ(facts.bad_values, 0U);
}

TEST(RunFacts, ReadsEveryKind) {
  const RunFacts facts = read_run_facts(whole);
  EXPECT_FALSE(facts.partial());
  EXPECT_EQ(facts.records, 14u);
  EXPECT_EQ(facts.process->argv, std::vector<std::string>({"train.py", "--x"}));
  EXPECT_EQ(facts.process->cudnn, "91002");
  EXPECT_EQ(facts.history->counters.allocs, 3u);
  EXPECT_EQ(facts.history->max_entries, 100u);
  EXPECT_EQ(facts.marks.at(0).name, ledger::MarkName::load_begin);
  ASSERT_EQ(facts.lists.at(0).tensors.size(), 2u);
  EXPECT_TRUE(facts.lists[0].complete[0]);
  EXPECT_EQ(facts.lists[0].tensors[1].state, "exp_avg");
  EXPECT_EQ(facts.ooms.at(0).line, "a.py:3 f");
  EXPECT_EQ(facts.ooms[0].marks_before, 1u);
  EXPECT_EQ(facts.caught_ooms, 2u);
  EXPECT_TRUE(facts.exception->oom);
  EXPECT_EQ(facts.stop->steps, 3u);
  EXPECT_EQ(facts.saw.size(), 1u);
  EXPECT_EQ(facts.batches.at(0).shapes, "[[4,128]]");
  EXPECT_TRUE(facts.end->snapshot);
  EXPECT_EQ(facts.bad_values, 1u);  // the row [1]
}

TEST(RunFacts, KeepsWhatStandsBeforeDamage) {
  std::string text = whole;
  text[text.find("caught_oom")] = 'C';
  const RunFacts facts = read_run_facts(text);
  EXPECT_EQ(facts.records, 5u);
  ASSERT_TRUE(facts.damage);
  EXPECT_TRUE(facts.partial());
  EXPECT_FALSE(facts.caught_ooms);
}

TEST(RunFacts, EveryCutKeepsTheWholeLines) {
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const RunFacts facts = read_run_facts(std::string_view(whole).substr(0, length));
    EXPECT_TRUE(facts.partial() || length + 1 == whole.size()) << length;
  }
}

TEST(RunFacts, SurvivesDeepValuesAndWrongKinds) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  const RunFacts facts =
      read_run_facts(line("{\"kind\":\"batch\",\"shapes\":" + deep + "}") +
                     line(R"({"kind":"mark","index":-1,"name":[],"allocs":"x","allocated":1e300})") + line("[]"));
  EXPECT_EQ(facts.records, 2u);
  EXPECT_EQ(facts.bad_values, 4u);
  EXPECT_TRUE(facts.damage);
}

}  // namespace
}  // namespace ullage::ingest
