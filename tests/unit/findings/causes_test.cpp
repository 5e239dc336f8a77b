// SPDX-License-Identifier: Apache-2.0
#include "findings/causes.hpp"

#include <gtest/gtest.h>

namespace ullage::findings {
namespace {

using ledger::Line;

Line leaf(std::string id, std::uint64_t bytes) {
  return {id, id, bytes, ledger::KnownBy::executed, {}, {}, 0};
}

Line reserved(std::vector<Line> lines) {
  return ledger::sum_line("reserved", "reserved", ledger::KnownBy::executed, std::move(lines));
}

/// The causes of the differences from the first ledger to the second.
struct Case {
  ledger::Joined joined;
  std::vector<ConfigurationFact> facts;
  std::vector<ColumnLimits> limits = std::vector<ColumnLimits>(2);

  Case(Line before, Line after) : joined(ledger::join({std::move(before), std::move(after)})) {}
  [[nodiscard]] Comparison compared() const { return compare(joined, facts, limits, 0, 1); }
};

std::string cause_of(const Comparison& found, const std::string& id) {
  for (const ExplainedLine& one : found.lines)
    if (one.line->id == id) return one.cause ? one.cause->id : "none";
  return "same";
}

TEST(Causes, WhatNoRuleKnowsIsUnexplainedResidue) {
  const Case one(reserved({leaf("parameters", 5'000), leaf("activations", 7'000)}),
                 reserved({leaf("parameters", 5'000), leaf("activations", 9'000)}));
  const Comparison found = one.compared();
  ASSERT_EQ(found.lines.size(), 1u);
  EXPECT_EQ(found.bytes, 2'000);
  EXPECT_EQ(found.unexplained, 2'000u);
  EXPECT_EQ(found.explained, 0u);
  EXPECT_FALSE(found.lines[0].cause);
}

TEST(Causes, ASingleSettingThatDiffersIsCertainSeveralAreNot) {
  Case one(reserved({leaf("parameters", 5'000), leaf("inputs", 10)}),
           reserved({leaf("parameters", 9'000), leaf("inputs", 20)}));
  one.facts.push_back({"--width", {"512", "1024"}, true});
  auto found = one.compared();
  EXPECT_EQ(found.lines[0].line->id, "parameters");  // the largest first
  EXPECT_TRUE(found.lines[0].cause->certain);
  EXPECT_EQ(found.lines[0].cause->text, "--width 512 -> 1024, the only setting that differs");
  EXPECT_EQ(found.unexplained, 0u);
  one.facts.push_back({"--batch", {"1", "2"}, true});
  found = one.compared();
  EXPECT_EQ(found.lines[0].cause->id, "settings");
  EXPECT_FALSE(found.lines[0].cause->certain);
}

TEST(Causes, AFactExplainsTheLinesThatFollowFromIt) {
  Case one(reserved({leaf("parameters", 5'000), leaf("activations", 10'000)}),
           reserved({leaf("parameters", 5'100), leaf("activations", 20'300)}));
  one.facts.push_back({"sequence", {"512", "1024"}, false});
  one.facts.push_back({"precision", {"fp32", std::nullopt}, false});  // one side does not say it
  const auto found = one.compared();
  EXPECT_EQ(cause_of(found, "activations"), "configuration");
  EXPECT_EQ(cause_of(found, "parameters"), "none");
}

TEST(Causes, BytesWithoutAnOwnerAreMissingInTheirLines) {
  const Case exact(reserved({leaf("parameters", 10'000), leaf("unattributed", 0)}),
                   reserved({leaf("parameters", 8'000), leaf("unattributed", 2'000)}));
  auto found = exact.compared();
  EXPECT_EQ(found.bytes, 0);
  EXPECT_EQ(cause_of(found, "parameters"), "not_attributed");
  EXPECT_EQ(found.unexplained, 0u);
  const Case more(reserved({leaf("parameters", 10'000), leaf("unattributed", 0)}),
                  reserved({leaf("parameters", 8'000), leaf("unattributed", 2'900)}));
  found = more.compared();
  EXPECT_EQ(cause_of(found, "parameters"), "not_attributed");
  EXPECT_EQ(found.explained, 4'000u);
  EXPECT_EQ(found.unexplained, 900u);
  const Case less(reserved({leaf("parameters", 10'000), leaf("unattributed", 0)}),
                  reserved({leaf("parameters", 8'000), leaf("unattributed", 900)}));
  EXPECT_EQ(cause_of(less.compared(), "parameters"), "none");  // there is no room for it
}

TEST(Causes, AsManyBytesTheOtherWayAreMoved) {
  const Case one(reserved({leaf("activations", 10'000), leaf("temporaries", 1'000)}),
                 reserved({leaf("activations", 8'000), leaf("temporaries", 3'000)}));
  const auto found = one.compared();
  EXPECT_EQ(cause_of(found, "activations"), "moved");
  EXPECT_NE(found.lines[0].cause->text.find("temporaries"), std::string::npos);
}

TEST(Causes, APlanOfStatesLacksWhatAStepAdds) {
  Case one(reserved({leaf("parameters", 10'000)}), reserved({leaf("parameters", 10'512), leaf("activations", 3'000)}));
  one.limits[0].states_alone = true;
  const auto found = one.compared();
  EXPECT_EQ(cause_of(found, "activations"), "states_alone");
  EXPECT_EQ(cause_of(found, "parameters"), "none");
}

TEST(Causes, AnotherMomentAndWhatFollowsFromTheRequests) {
  Case one(reserved({leaf("gradients", 10'000), leaf("cached", 500)}),
           reserved({leaf("gradients", 4'000), leaf("cached", 900)}));
  EXPECT_EQ(cause_of(one.compared(), "gradients"), "none");
  EXPECT_EQ(cause_of(one.compared(), "cached"), "follows");
  one.limits[0].moment = "backward", one.limits[1].moment = "optimizer";
  EXPECT_EQ(cause_of(one.compared(), "gradients"), "moment");
}

}  // namespace
}  // namespace ullage::findings
