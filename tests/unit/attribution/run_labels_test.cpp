// SPDX-License-Identifier: Apache-2.0
#include "attribution/run_labels.hpp"

#include <gtest/gtest.h>

#include "run_builder.hpp"

namespace ullage::attribution {
namespace {

using test::RunBuilder;

struct Verdict {
  Category category;
  std::string kind;
};

Verdict of(const Labels& labels, timeline::AllocationId id) {
  return {labels.of[id].category, std::string(labels.strings.text(labels.of[id].kind))};
}

TEST(RunLabels, LivesDecideWhatIsNotNamed) {
  RunBuilder run;
  run.phase(PhaseName::load, 0);
  const auto batch = run.allocate(100, 0x1000);
  const auto scratch = run.allocate(100, 0x2000);
  run.free(0x2000, 100);
  const auto kept = run.allocate(100, 0x3000);
  run.phase(PhaseName::forward, 1);
  const auto saved = run.allocate(100, 0x4000);
  const auto output = run.allocate(100, 0x5000);
  const auto temporary = run.allocate(100, 0x6000);
  run.free(0x6000, 100);
  run.phase(PhaseName::backward, 1);
  const auto gradient = run.allocate(100, 0x7000);
  run.free(0x4000, 100);
  run.free(0x7000, 100);
  run.phase(PhaseName::optimizer, 1);
  const auto update = run.allocate(100, 0x8000);
  run.free(0x8000, 100);
  run.phase(PhaseName::other, 1);
  run.free(0x1000, 100);
  const Labels labels = run.labels();
  EXPECT_EQ(of(labels, batch).category, Category::inputs);
  EXPECT_EQ(of(labels, scratch).category, Category::temporaries);
  EXPECT_EQ(of(labels, kept).category, Category::unattributed);
  EXPECT_EQ(of(labels, saved).category, Category::activations);
  EXPECT_EQ(of(labels, saved).kind, "saved for backward");
  EXPECT_EQ(of(labels, output).kind, "held");
  EXPECT_EQ(of(labels, temporary).category, Category::temporaries);
  EXPECT_EQ(of(labels, gradient).category, Category::temporaries);
  EXPECT_EQ(of(labels, update).category, Category::temporaries);
}

TEST(RunLabels, WhatAForwardThatRanOutOfMemoryLeftWasToBeSaved) {
  RunBuilder run;
  run.phase(PhaseName::load, 0);
  run.phase(PhaseName::forward, 1);
  const auto left = run.allocate(100, 0x4000);
  run.timeline.events.push_back({timeline::Action::oom, 0, 1 << 20, 0, 0, timeline::no_stack});
  run.phase(PhaseName::other, 1);
  EXPECT_EQ(of(run.labels(), left).kind, "saved for backward");
}

TEST(RunLabels, WhatAForwardWithoutABackwardLeftIsHeld) {
  RunBuilder run;
  run.phase(PhaseName::forward, 1);
  const auto left = run.allocate(100, 0x4000);
  run.phase(PhaseName::other, 1);
  EXPECT_EQ(of(run.labels(), left).kind, "held");
}

TEST(RunLabels, AStateThatNobodyNamedNeedsAParametersSize) {
  RunBuilder run;
  run.allocate(1024, 0x1000);
  run.mark();
  run.name({test::tensor(TensorClass::parameter, 0x1000, 1024)});
  run.phase(PhaseName::optimizer, 1);
  const auto state = run.allocate(1024, 0x2000);
  const auto other = run.allocate(777, 0x3000);
  const Labels labels = run.labels();
  EXPECT_EQ(of(labels, state).category, Category::optimizer_state);
  EXPECT_EQ(labels.of[state].by, AttributedBy::lifetime);
  EXPECT_EQ(of(labels, other).category, Category::unattributed);
}

TEST(RunLabels, AFileOfTorchDistributedIsCommunication) {
  RunBuilder run;
  run.phase(PhaseName::forward, 1);
  auto& timeline = run.timeline;
  const auto frame = [&](const char* file) {
    return timeline.stacks.intern_frame({timeline.strings.intern(file), timeline.strings.intern("f"), 1});
  };
  const timeline::FrameId gather[] = {frame("/p/torch/_ops.py"), frame("/p/torch/distributed/fsdp/x.py")};
  const timeline::FrameId model[] = {frame("/opt/model.py"), frame("/p/torch/distributed/fsdp/x.py")};
  const auto buffer = run.allocate(100, 0x1000);
  timeline.events.stack.back() = timeline.stacks.intern(gather);
  const auto activation = run.allocate(100, 0x2000);
  timeline.events.stack.back() = timeline.stacks.intern(model);
  const Labels labels = run.labels();
  EXPECT_EQ(of(labels, buffer).category, Category::communication);
  EXPECT_EQ(of(labels, activation).category, Category::activations);
}

}  // namespace
}  // namespace ullage::attribution
