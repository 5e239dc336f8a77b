// SPDX-License-Identifier: Apache-2.0
#include "lowering/lower.hpp"

#include "lowering/fold.hpp"
#include "lowering/optimizer.hpp"
#include "lowering/repeat.hpp"
#include "lowering/run.hpp"

#include <algorithm>
#include <string>

namespace ullage::lowering {
namespace {

using program::Phase;
using program::Role;

/// One forward pass as a loop calls it, under autocast where the setup says so.
class Pass {
 public:
  explicit Pass(Forward forward) : forward_(forward) {}

  Tensor operator()(const Run& run) {
    Context& context = run.context;
    const AutocastMode cast(context, run.setup.autocast);
    // older than Ampere: torch.autocast tries a tensor of bfloat16 first
    if (!asked_ && context.autocast.on && context.autocast.type == DType::bf16 && context.device.compute_major < 8)
      (void)context.make({1}, DType::bf16);
    asked_ = true;
    return forward_(run);
  }

 private:
  Forward forward_;
  bool asked_ = false;
};

void train(const Run& run, Pass pass, Optimizer& optimizer) {
  Context& context = run.context;
  const Setup& setup = run.setup;
  Tape& tape = context.tape;
  Tensor loss;
  for (unsigned step = 1; step <= setup.steps; ++step) {
    // from the third on, a step is the one before
    if (step == 3 && can_repeat(tape.program(), 2)) {
      tape.repeat_last(setup.steps - 2);
      break;
    }
    for (std::uint32_t micro_batch = 1; micro_batch <= setup.accumulate; ++micro_batch) {
      tape.enter_phase(Phase::forward, step, micro_batch);
      loss = pass(run);
      tape.enter_phase(Phase::backward, step, micro_batch);
      run_backward(context, loss);
    }
    tape.enter_phase(Phase::optimizer, step);
    optimizer.step(context);
    tape.enter_phase(Phase::other, step);
    if (!setup.keep_gradients) optimizer.zero_grad();
  }
  tape.close();
}

/// The logits of a pass live until those of the next are there.
void infer(const Run& run, Pass pass) {
  Context& context = run.context;
  context.training = false;
  const GradientMode mode(context, false);
  Tensor logits;
  for (unsigned step = 1; step <= run.setup.steps; ++step) {
    context.tape.enter_phase(Phase::forward, step, 1);
    logits = pass(run);
  }
  context.tape.close();
}

/// Whether an attention gets a mask of transformers instead of is_causal.
bool makes_masks(const model::Network& network, const Setup& setup) {
  return setup.padding || (network.sliding_window && static_cast<std::uint64_t>(std::max(
                                                         setup.sequence, setup.cache)) >= *network.sliding_window);
}

/// The mask of one token more, which is none of padding.
Tensor with_a_token(Context& context, const Tensor& mask) {
  const Extents sizes{mask->sizes[0], 1};
  note_written(context, "aten::new_ones", 8.0 * static_cast<double>(sizes.product()));
  const Tensor ones = context.make(sizes, DType::int64);
  Tensor longer = cat(context, {mask, ones}, 1);
  context.tape.is(longer->storage->id, Role::input);
  return longer;
}

/// The sequence, then one token after the other, the likeliest, until the cache is as long as it should be.
void generate(Run run, Pass pass) {
  Context& context = run.context;
  context.training = false;
  const GradientMode mode(context, false);
  KeyValueCache cache(run.network);
  run.cache = &cache;
  const Tensor prompt = run.tokens;
  Tensor logits;
  for (unsigned step = 1; cache.seen() < run.setup.cache; ++step) {
    context.tape.enter_phase(Phase::forward, step, 1);
    logits = pass(run);
    cache.pass(run.queries());
    run.tokens = argmax_last(context, logits);
    context.tape.is(run.tokens->storage->id, Role::input);
    if (run.attention) run.attention = with_a_token(context, run.attention);
  }
  context.tape.close();
}

Result<void> check_flash(const model::Network& network, const Setup& setup, const DeviceFacts& device) {
  if (setup.attention != Attention::flash) return {};
  const FlashInput input{setup.autocast ? setup.autocast_type : setup.weights,
                         static_cast<std::int64_t>(network.head_width), makes_masks(network, setup), setup.train,
                         setup.train && network.attention_dropout > 0};
  const auto refusal = flash_refusal(device, input);
  if (!refusal) return {};
  return fail(ErrorKind::usage, "PyTorch has no FlashAttention for this", refusal->reason, refusal->allowed,
              "--attention sdpa takes what runs");
}

std::uint64_t most_single_tokens(const model::Network& network) {
  constexpr std::uint64_t most_passes = 1 << 17;  // of a layer; each is a kilobyte here
  return most_passes / std::max<std::uint64_t>(network.layers, 1);
}

Result<void> check_cache(const model::Network& network, const Setup& setup) {
  if (setup.cache == 0) return {};
  if (setup.padding && network.sliding_window && static_cast<std::uint64_t>(setup.cache) >= *network.sliding_window)
    return fail(ErrorKind::usage, "not planned", "a KV cache with padding beyond a sliding window",
                "a cache shorter than the window of " + std::to_string(*network.sliding_window) + " tokens");
  if (setup.cache < setup.sequence)
    return fail(ErrorKind::usage, "the cache holds the sequence first", "a cache of " + std::to_string(setup.cache),
                "at least " + std::to_string(setup.sequence) + " tokens");
  const auto steps = static_cast<std::uint64_t>(setup.cache - setup.sequence);
  if (steps > most_single_tokens(network))
    return fail(ErrorKind::usage, "too many tokens one by one", std::to_string(steps),
                "at most " + std::to_string(most_single_tokens(network)) + " for this model",
                "a longer sequence, of the same cache, has nearly the same last step");
  return {};
}

Result<void> check(const model::Model& model, const Setup& setup, const DeviceFacts& device) {
  if (!forward_of(model.model_type))
    return fail(ErrorKind::usage, "no forward pass is known", model.model_type, "a model of a known family");
  if (setup.attention != Attention::eager && model.model_type == "gemma2")  // _supports_sdpa of its class
    return fail(ErrorKind::usage, "transformers refuses SDPA for this model", model.model_type, "eager attention",
                "--attention eager");
  if (!model.network.not_planned.empty())
    return fail(ErrorKind::usage, "not planned", model.network.not_planned, "a model without it",
                "'ullage rehearse' runs any script");
  constexpr std::uint64_t most_layers = 4096;
  if (model.network.layers > most_layers)
    return fail(ErrorKind::usage, "too many layers for a whole step", std::to_string(model.network.layers),
                "at most " + std::to_string(most_layers), "without --seq the states are planned");
  const std::int64_t longest = std::max(setup.sequence, setup.cache);
  const std::uint64_t positions = model.network.positions;
  if (positions > 0 && static_cast<std::uint64_t>(longest) > positions)
    return fail(ErrorKind::usage, "the model has no positions for so long a sequence", std::to_string(longest),
                "at most " + std::to_string(positions) + " tokens");
  if (const auto checked = check_cache(model.network, setup); !checked) return checked;
  return check_flash(model.network, setup, device);
}

struct Batch {
  Tensor tokens, labels, attention;
};

/// What a collator hands over.
Batch batch_of(Context& context, const Setup& setup) {
  const Extents sizes{setup.micro_batch, setup.sequence};
  Batch batch;
  context.op("aten::randint");
  batch.tokens = batch.labels = context.make(sizes, DType::int64, Role::input);
  if (!setup.padding) return batch;
  context.op("aten::_to_copy");
  batch.attention = context.make(sizes, DType::int64, Role::input);
  const Tensor hidden = pointwise(context, "aten::eq", {&batch.attention}, DType::boolean);
  batch.labels = pointwise(context, "aten::masked_fill", {&batch.tokens, &hidden}, DType::int64);
  context.tape.is(batch.labels->storage->id, Role::input);
  return batch;
}

bool trains_something(const Weights& weights) {
  return std::ranges::any_of(weights.all(), [](const Tensor& weight) { return weight->requires_grad; });
}

}  // namespace

DeviceFacts facts_of(const Gpu& gpu) {
  DeviceFacts facts;
  facts.multiprocessors = static_cast<std::int64_t>(gpu.count(Fact::sm_count));
  facts.threads_per_multiprocessor = static_cast<std::int64_t>(gpu.count(Fact::threads_per_sm));
  facts.shared_memory_per_block = static_cast<std::int64_t>(gpu.count(Fact::shared_optin_per_block));
  facts.compute_major = gpu.cc_major;
  facts.compute_minor = gpu.cc_minor;
  return facts;
}

std::uint64_t shortest_prefill(const model::Network& network, const Setup& setup) {
  const auto cache = static_cast<std::uint64_t>(setup.cache), most = most_single_tokens(network);
  return cache > most ? cache - most : 1;
}

namespace {

Result<program::Folded> lower_all(const model::Model& model, const Setup& setup, const DeviceFacts& device,
                                  DeviceAnswers* answers, const program::Fold& fold = {}) {
  const Forward forward = forward_of(model.model_type);
  program::Folded folded;
  folded.fold = fold;
  Tape tape(folded);
  Context context(tape, device);
  context.autocast.type = setup.autocast_type;
  context.tf32 = setup.tf32;
  tape.enter_phase(Phase::load, 0);
  std::vector<Tensor> buffers;
  const Weights weights(context, model, setup.weights, setup.frozen, [&] {
    if (model.network.rotary_width > 0)
      load_rotary(context, static_cast<std::int64_t>(model.network.rotary_width), buffers);
  });
  if (setup.train && !trains_something(weights))
    return fail(ErrorKind::usage, "nothing is trained", "every parameter is frozen", "at least one that is not");
  Optimizer optimizer(setup.optimizer, weights.all());
  Batch batch = batch_of(context, setup);
  if (!setup.train) batch.labels = Tensor();
  const Run run{context, weights, model.network, setup, batch.tokens, batch.labels, batch.attention};
  if (setup.train)
    train(run, Pass(forward), optimizer);
  else if (setup.cache > 0)
    generate(run, Pass(forward));
  else
    infer(run, Pass(forward));
  if (answers != nullptr) *answers = std::move(context.answers);
  return folded;
}

}  // namespace

Result<program::Folded> lower_every_layer(const model::Model& model, const Setup& setup, const DeviceFacts& device) {
  if (const auto checked = check(model, setup, device); !checked) return tl::unexpected(checked.error());
  return lower_all(model, setup, device, nullptr);
}

Result<program::Folded> lower_folded(const model::Model& model, const Setup& setup, const DeviceFacts& device,
                                     DeviceAnswers* answers) {
  if (const auto checked = check(model, setup, device); !checked) return tl::unexpected(checked.error());
  if (const auto shallow = shallower(model, setup)) {
    auto folded = lower_all(shallow->model, shallow->setup, device, answers, shallow->fold);
    if (!folded || program::folds(*folded)) return folded;
  }
  return lower_all(model, setup, device, answers);
}

Result<program::Program> lower(const model::Model& model, const Setup& setup, const DeviceFacts& device,
                               DeviceAnswers* answers) {
  auto folded = lower_folded(model, setup, device, answers);
  if (!folded) return tl::unexpected(std::move(folded.error()));
  program::Program program = folded->fold.more > 0 ? program::unfold(*folded) : std::move(folded->program);
  for (std::uint32_t i = 0; i < folded->repeated_steps; ++i) (void)repeat_step(program, 3 + i);
  return program;
}

}  // namespace ullage::lowering
