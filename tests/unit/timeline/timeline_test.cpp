// SPDX-License-Identifier: Apache-2.0
#include "timeline/timeline.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ullage::timeline {
namespace {

StackId stack_of(Timeline& timeline, const std::vector<std::string>& files) {
  std::vector<FrameId> ids;
  std::uint32_t line = 1;
  for (const std::string& file : files) {
    ids.push_back(timeline.stacks.intern_frame({timeline.strings.intern(file), timeline.strings.intern("f"), line++}));
  }
  return timeline.stacks.intern(ids);
}

std::string file_of(const Timeline& timeline, std::optional<FrameId> frame) {
  return frame ? std::string(timeline.strings.text(timeline.stacks.frame(*frame).file)) : "none";
}

TEST(Timeline, EqualTextsFramesAndStacksAreStoredOnce) {
  Timeline t;
  EXPECT_EQ(t.strings.intern("a"), t.strings.intern("a"));
  EXPECT_EQ(stack_of(t, {"x.py", "y.py"}), stack_of(t, {"x.py", "y.py"}));
  EXPECT_NE(stack_of(t, {"x.py", "y.py"}), stack_of(t, {"x.py"}));
  EXPECT_EQ(t.stacks.frame_count(), 2u);
  EXPECT_EQ(t.stacks.intern({}), no_stack);
}

TEST(Timeline, StaysValidWhenMoved) {
  Timeline a;
  const StringId id = a.strings.intern("short");
  Timeline b = std::move(a);
  EXPECT_EQ(b.strings.intern("short"), id);
  EXPECT_EQ(b.strings.text(id), "short");
}

TEST(Timeline, UserLineSkipsNativeFramesTorchAndFrozen) {
  Timeline t;
  const StackId stack =
      stack_of(t, {"??", "CUDACachingAllocator.cpp", "/v/lib/site-packages/torch/nn/module.py", "<frozen runpy>",
                   "/v/lib/site-packages/transformers/models/gpt2.py", "/home/user/train.py"});
  const UserLine line = user_line(t, stack);
  EXPECT_EQ(file_of(t, line.outside_torch), "/v/lib/site-packages/transformers/models/gpt2.py");
  EXPECT_EQ(file_of(t, line.outside_packages), "/home/user/train.py");
}

TEST(Timeline, UserLineIsEmptyWithoutPythonFrames) {
  Timeline t;
  const UserLine line = user_line(t, stack_of(t, {"??", "engine.cpp"}));
  EXPECT_FALSE(line.outside_torch);
  EXPECT_FALSE(line.outside_packages);
}

TEST(Timeline, StreamsAreNumberedInOrderOfAppearance) {
  Timeline t;
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(t.stream_index(100 + i), i);
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(t.stream_index(100 + i), i);
  EXPECT_EQ(t.streams.size(), 20U);
}

}  // namespace
}  // namespace ullage::timeline
