// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "run_builder.hpp"

namespace ullage::attribution {
namespace {

using test::RunBuilder;
using test::tensor;

TEST(Named, AStorageBelongsToItsFirstOwner) {
  RunBuilder run;
  const auto block = run.allocate(100, 4096);
  run.mark();
  run.name({tensor(TensorClass::gradient, 4096, 100), tensor(TensorClass::parameter, 4096, 100)});
  const Labels labels = run.labels();
  EXPECT_EQ(labels.of[block].category, Category::parameters);
  EXPECT_EQ(labels.of[block].by, AttributedBy::named);
  EXPECT_EQ(labels.strings.text(labels.of[block].module), "a");
}

TEST(Named, ABlockBornAfterTheTensorWasSeenIsAnother) {
  RunBuilder run;
  const auto first = run.allocate(100, 4096);
  run.mark();
  run.name({tensor(TensorClass::gradient, 4096, 100)});
  run.free(4096, 100);
  const auto second = run.allocate(100, 4096);
  const Labels labels = run.labels();
  EXPECT_EQ(labels.of[first].category, Category::gradients);
  EXPECT_NE(labels.of[second].category, Category::gradients);
}

TEST(Named, ANameHoldsForTheWholeLifeOfTheStorage) {
  RunBuilder run;
  run.phase(PhaseName::backward, 1);
  const auto gradient = run.allocate(100, 4096);
  run.allocate(100, 8192);
  run.mark();
  run.name({tensor(TensorClass::gradient, 4096, 100)});
  EXPECT_EQ(run.labels().of[gradient].category, Category::gradients);
}

TEST(Named, AListThatIsNotRepeatedStillHolds) {
  RunBuilder run;
  const auto first = run.allocate(100, 4096);
  run.mark();
  run.name({tensor(TensorClass::gradient, 4096, 100)});
  run.free(4096, 100);
  const auto second = run.allocate(100, 4096);
  run.mark();  // the rows are as before: the hook writes nothing
  const Labels labels = run.labels();
  EXPECT_EQ(labels.of[first].category, Category::gradients);
  EXPECT_EQ(labels.of[second].category, Category::gradients);
}

TEST(Named, WhatOtherObjectsHoldIsStateOnlyWithAParametersSize) {
  RunBuilder run;
  run.allocate(1024, 4096);
  const auto moment = run.allocate(1024, 8192);
  const auto half = run.allocate(512, 16384);
  const auto cache = run.allocate(3000, 32768);
  run.mark();
  run.name({tensor(TensorClass::parameter, 4096, 1024), tensor(TensorClass::held, 8192, 1024, "MyAdam.m"),
            tensor(TensorClass::held, 16384, 512, "MyAdam.m"), tensor(TensorClass::held, 32768, 3000, "Cache.k")});
  const Labels labels = run.labels();
  EXPECT_EQ(labels.of[moment].category, Category::optimizer_state);
  EXPECT_EQ(labels.strings.text(labels.of[moment].kind), "MyAdam.m");
  EXPECT_EQ(labels.of[half].category, Category::optimizer_state);
  EXPECT_EQ(labels.of[cache].category, Category::unattributed);
}

}  // namespace
}  // namespace ullage::attribution
