// SPDX-License-Identifier: Apache-2.0
// A model whose identical layers were lowered once gives the program of one whose layers were all lowered.
#include "lowering/fold.hpp"
#include "lowering/lower.hpp"
#include "model/families.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ullage::lowering {
namespace {

using program::Event;
using program::Program;

/// What an operator is, with the name of its module.
auto facts_of(const Program& program, const program::Operator& op) {
  return std::tuple(std::string(op.name), program.module_path(op.module), op.work, op.recomputed, op.bits,
                    op.tensor_cores, op.causal, op.launches, op.flops, op.bytes, op.m, op.n, op.k, op.batch);
}

/// Numbers of tensors in the order of their requests: those of no bytes have none.
std::map<program::TensorId, std::size_t> in_order(const Program& program) {
  std::map<program::TensorId, std::size_t> numbers;
  for (const Event event : program.events)
    if (program::is_request(event)) numbers.emplace(program::tensor_of(event), numbers.size());
  return numbers;
}

void expect_same_events(const Program& one, const Program& other) {
  ASSERT_EQ(one.events.size(), other.events.size());
  const auto numbers = in_order(one), others = in_order(other);
  for (std::size_t i = 0; i < one.events.size(); ++i) {
    const program::TensorId left = program::tensor_of(one.events[i]), right = program::tensor_of(other.events[i]);
    ASSERT_EQ(program::is_request(one.events[i]), program::is_request(other.events[i])) << i;
    ASSERT_EQ(numbers.at(left), others.at(right)) << i;
    const program::Tensor &a = one.tensors[left], &b = other.tensors[right];
    ASSERT_EQ(std::tuple(a.bytes, a.role, a.by, a.kind), std::tuple(b.bytes, b.role, b.by, b.kind)) << i;
  }
}

void expect_same(const Program& one, const Program& other) {
  expect_same_events(one, other);
  ASSERT_EQ(one.operators.size(), other.operators.size());
  for (std::size_t i = 0; i < one.operators.size(); ++i)
    ASSERT_EQ(facts_of(one, one.operators[i]), facts_of(other, other.operators[i])) << i;
  ASSERT_EQ(one.marks.size(), other.marks.size());
  for (std::size_t i = 0; i < one.marks.size(); ++i) {
    const program::Mark &a = one.marks[i], &b = other.marks[i];
    ASSERT_EQ(std::tuple(a.event, a.first_operator, a.phase, a.step, a.micro_batch),
              std::tuple(b.event, b.first_operator, b.phase, b.step, b.micro_batch))
        << i;
  }
}

Program unfolded(const program::Folded& folded) {
  return folded.fold.more > 0 ? program::unfold(folded) : folded.program;
}

model::Model model_of(const std::string& family, std::uint64_t layers, const std::string& fields = "") {
  model::Sizes sizes;
  const auto set = [&](model::SizeOf size, std::uint64_t value) { sizes[static_cast<std::size_t>(size)] = value; };
  set(model::SizeOf::layers, layers);
  set(model::SizeOf::vocabulary, 33000);
  const std::string json = R"({"model_type": ")" + family + "\"" + fields + "}";
  const auto model = model::describe(json, "config", sizes);
  if (!model) ADD_FAILURE() << model.error().what;
  return model.value_or(model::Model{});
}

/// Whether the model was folded; the two programs are compared.
bool folds_alike(const model::Model& model, const Setup& setup, const DeviceFacts& device = {}) {
  const auto folded = lower_folded(model, setup, device);
  const auto every = lower_every_layer(model, setup, device);
  EXPECT_EQ(folded.has_value(), every.has_value());
  if (!folded || !every) return false;
  EXPECT_EQ(folded->repeated_steps, every->repeated_steps);
  expect_same(unfolded(*folded), every->program);
  return folded->fold.more > 0;
}

Setup small_setup() {
  Setup setup;
  setup.sequence = 64;
  return setup;
}

TEST(Fold, EveryFamilyFolds) {
  for (const model::Family& family : model::families()) {
    lowering::Setup setup = small_setup();
    setup.attention = Attention::eager;
    EXPECT_TRUE(folds_alike(model_of(std::string(family.model_type), 11), setup)) << family.model_type;
  }
}

TEST(Fold, FewLayersDoNot) {
  EXPECT_FALSE(shallower(model_of("llama", 4), small_setup()));
  EXPECT_TRUE(shallower(model_of("llama", 5), small_setup()));
  EXPECT_FALSE(folds_alike(model_of("llama", 3), small_setup()));
}

TEST(Fold, LayersThatSlideInTurnHaveAPeriodOfTwo) {
  const auto shallow = shallower(model_of("gemma2", 26), small_setup());
  ASSERT_TRUE(shallow);
  EXPECT_EQ(shallow->fold.period, 2u);
  EXPECT_EQ(shallow->model.network.layers, 8u);
  EXPECT_EQ(shallow->fold.more, 9u);
}

TEST(Fold, RegionsOfEveryThirdLayerHaveAPeriodOfThree) {
  lowering::Setup setup = small_setup();
  setup.checkpoint_every = 3;
  for (const std::uint64_t layers : {16U, 17U, 18U, 19U}) EXPECT_TRUE(folds_alike(model_of("llama", layers), setup));
}

TEST(Fold, LayersThatAreFrozenUpToOneDoNotRepeat) {
  const model::Model model = model_of("gpt2", 12);
  lowering::Setup setup = small_setup();
  setup.frozen.assign(2 + 12 * 12 + 3, false);
  for (std::size_t i = 0; i < 2 + 6 * 12; ++i) setup.frozen[i] = true;
  EXPECT_FALSE(shallower(model, setup));
  EXPECT_FALSE(folds_alike(model, setup));
}

TEST(Fold, APeriodThatDiffersFromTheNextIsNotTrusted) {
  auto folded = lower_folded(model_of("llama", 9), small_setup(), {});
  ASSERT_TRUE(folded && folded->fold.more > 0 && program::folds(*folded));
  const auto altered = [&](auto alter) {
    program::Folded copy = *folded;
    alter(copy);
    return program::folds(copy);
  };
  const auto of_period = [&](program::LayerNumber layer) {
    return static_cast<std::size_t>(std::ranges::find(folded->tensor_layers, layer) - folded->tensor_layers.begin());
  };
  EXPECT_FALSE(altered([&](auto& copy) { copy.program.tensors[of_period(2)].bytes += 1; }));
  EXPECT_FALSE(altered([&](auto& copy) { copy.program.tensors[of_period(3)].role = program::Role::input; }));
  EXPECT_FALSE(altered([](auto& copy) { copy.program.modules[copy.program.modules.size() - 20].name += "x"; }));
  EXPECT_FALSE(altered([](auto& copy) { copy.fold.first += 1; }));
}

lowering::Setup any_setup(const model::Model& model) {
  lowering::Setup setup = small_setup();
  setup.sequence = *rc::gen::element(33, 64, 130);
  setup.micro_batch = *rc::gen::inRange(1, 4);
  setup.train = *rc::gen::inRange(0, 5) > 0;
  const bool narrow = *rc::gen::arbitrary<bool>();
  setup.autocast = !narrow && *rc::gen::arbitrary<bool>();
  setup.weights = narrow ? DType::bf16 : DType::fp32;
  setup.autocast_type = *rc::gen::element(DType::bf16, DType::fp16);
  setup.padding = *rc::gen::inRange(0, 4) == 0;
  setup.attention =
      model.model_type == "gemma2" ? Attention::eager : *rc::gen::element(Attention::eager, Attention::sdpa);
  setup.checkpoint_every = *rc::gen::element<std::uint64_t>(0, 0, 1, 2, 4);
  setup.accumulate = *rc::gen::element<std::uint64_t>(1, 1, 2);
  setup.keep_gradients = *rc::gen::inRange(0, 4) == 0;
  setup.optimizer = static_cast<OptimizerKind>(*rc::gen::inRange(0, 6));
  if (!setup.train && !setup.padding && *rc::gen::arbitrary<bool>()) setup.cache = setup.sequence + 5;
  return setup;
}

/// Freezes the same parameters of every layer, or what stands before the layers, or nothing.
void freeze(const model::Model& model, Setup& setup) {
  const int which = *rc::gen::inRange(0, 4);
  if (which > 1) return;
  const auto bits = *rc::gen::arbitrary<std::uint32_t>();
  for (const model::Group& group : model.groups)
    for (std::uint64_t layer = 0; layer < group.repeat; ++layer)
      for (std::size_t i = 0; i < group.parameters.size(); ++i)
        setup.frozen.push_back(group.layers ? which == 0 && (bits >> i % 32 & 1U) != 0 : which == 1);
}

TEST(Fold, AnySetupGivesTheProgramOfEveryLayer) {
  EXPECT_TRUE(rc::check("unfolded equals every layer", [] {
    const auto& families = model::families();
    const std::string family(families[*rc::gen::inRange<std::size_t>(0, families.size())].model_type);
    const std::string fields = family == "mistral" || family == "phi3" ? R"(, "sliding_window": 48)" : "";
    const model::Model model = model_of(family, *rc::gen::inRange<std::uint64_t>(5, 25), fields);
    lowering::Setup setup = any_setup(model);
    freeze(model, setup);
    DeviceFacts device;
    std::tie(device.compute_major, device.compute_minor) =
        *rc::gen::element(std::pair{7, 5}, std::pair{8, 0}, std::pair{8, 9}, std::pair{9, 0}, std::pair{10, 0});
    const bool folded = folds_alike(model, setup, device);
    RC_TAG(std::string(folded ? "folded" : "not folded"));
    RC_ASSERT(!::testing::Test::HasFailure());
  }));
}

}  // namespace
}  // namespace ullage::lowering
