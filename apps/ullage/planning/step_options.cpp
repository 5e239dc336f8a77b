// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/step_options.hpp"

#include "apps/ullage/choice.hpp"
#include "base/text.hpp"
#include "planner/frozen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace ullage::cli {
namespace {

using lowering::DType;
using lowering::Setup;

constexpr std::uint64_t most_sequences = 1 << 20, most_accumulated = 1024;

/// 1,2,4,8.
Result<std::vector<std::uint64_t>> counts(const Arguments& arguments, std::string_view flag, std::uint64_t most) {
  std::vector<std::uint64_t> values;
  for (const std::string_view word : split(*arguments.text(flag), ',')) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value < 1 || value > most)
      return fail(ErrorKind::usage, "not a list of whole numbers", fmt::format("--{} {}", flag, *arguments.text(flag)),
                  fmt::format("numbers from 1 to {}, with commas between them", most));
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return values;
}

Result<void> read_precision(const PlanOptions& options, Setup& setup) {
  const setup::Precision& precision = *options.training.precision;
  if (precision.framework != setup::Framework::pytorch)
    return fail(ErrorKind::usage, "only states are planned of this bookkeeping",
                fmt::format("--precision {} of {}", precision.name, setup::name_of(precision.framework)),
                "fp32, tf32, bf16-autocast, fp16-autocast or bf16", "leave out --micro-batch and --seq");
  setup.weights = precision.name == "bf16" ? DType::bf16 : DType::fp32;
  setup.autocast = precision.name.ends_with("-autocast");
  setup.autocast_type = precision.name == "fp16-autocast" ? DType::fp16 : DType::bf16;
  setup.tf32 = precision.name == "tf32";
  return {};
}

Result<void> read_optimizer(const PlanOptions& options, Setup& setup) {
  if (!options.train) return {};
  using lowering::OptimizerKind;
  constexpr std::array<std::pair<std::string_view, OptimizerKind>, 6> known{
      {{"adamw", OptimizerKind::adamw},
       {"adamw-fused", OptimizerKind::adamw_fused},
       {"adamw-forloop", OptimizerKind::adamw_forloop},
       {"sgd", OptimizerKind::sgd},
       {"adafactor", OptimizerKind::adafactor},
       {"adamw-8bit", OptimizerKind::adamw_8bit}}};
  for (const auto& [name, kind] : known)
    if (name == options.training.optimizer->name) return setup.optimizer = kind, Result<void>{};
  return fail(ErrorKind::usage, "only states are planned of this optimizer",
              fmt::format("--optimizer {}", options.training.optimizer->name),
              "adamw, adamw-fused, adamw-forloop, sgd or adafactor", "leave out --micro-batch and --seq");
}

/// none, full, every:N.
Result<void> read_checkpoint(StepOptions& step) {
  const std::string& text = step.checkpoint;
  if (text == "none") return {};
  if (text == "full") return step.setup.checkpoint_every = 1, Result<void>{};
  const std::string_view number = std::string_view(text).substr(std::min<std::size_t>(text.size(), 6));
  std::uint64_t every = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), every);
  if (text.starts_with("every:") && error == std::errc{} && end == number.data() + number.size() && every > 0)
    return step.setup.checkpoint_every = every, Result<void>{};
  return fail(ErrorKind::usage, "not a way of checkpointing", "--checkpoint " + text,
              "none, full or every:N, where N is a whole number from 1");
}

Result<void> read_choices(const Arguments& arguments, const model::Model& model, StepOptions& step) {
  using lowering::Attention;
  constexpr std::array<std::string_view, 3> kinds{"sdpa", "eager", "flash"};
  constexpr std::array<Attention, 3> values{Attention::sdpa, Attention::eager, Attention::flash};
  // transformers has no SDPA for Gemma 2
  const auto attention = !arguments.given("attention") && model.model_type == "gemma2"
                             ? Result<std::size_t>(1)
                             : choice(arguments, "attention", kinds);
  if (!attention) return tl::unexpected(attention.error());
  step.attention = kinds[*attention];
  step.setup.attention = values[*attention];
  step.setup.padding = arguments.given("padding");
  step.checkpoint = *arguments.text("checkpoint");
  step.setup.keep_gradients = arguments.given("keep-gradients");
  step.setup.accumulate = arguments.count("accumulate").value_or(1);
  if (step.setup.accumulate < 1 || step.setup.accumulate > most_accumulated)
    return fail(ErrorKind::usage, "not a number of micro batches",
                fmt::format("--accumulate {}", step.setup.accumulate), fmt::format("1 to {}", most_accumulated));
  return read_checkpoint(step);
}

/// --global-batch, for which each micro batch has its own accumulation.
Result<void> read_global_batch(const Arguments& arguments, const PlanOptions& options, StepOptions& step) {
  step.global_batch = arguments.count("global-batch");
  if (!step.global_batch) return {};
  for (const char* flag : {"accumulate", "fit"})
    if (arguments.given(flag))
      return fail(ErrorKind::usage, "the global batch decides how many micro batches there are",
                  fmt::format("--global-batch with --{}", flag), "one of the two");
  for (const std::uint64_t micro_batch : step.micro_batches)
    if (const auto times = accumulation_of(options, step, micro_batch); !times) return tl::unexpected(times.error());
  step.setup.accumulate = *accumulation_of(options, step, step.micro_batches.front());
  return {};
}

Result<void> read_cache(const Arguments& arguments, StepOptions& step) {
  if (!arguments.given("cache")) return {};
  const std::uint64_t tokens = *arguments.count("cache");
  if (step.setup.train)
    return fail(ErrorKind::usage, "a training has no KV cache", "--cache without --mode infer", "--mode infer");
  if (tokens < 1 || tokens > most_tokens)
    return fail(ErrorKind::usage, "not a number of tokens", fmt::format("--cache {}", tokens),
                fmt::format("1 to {}", most_tokens));
  step.setup.cache = static_cast<std::int64_t>(tokens);
  return {};
}

Result<void> read_fit(const Arguments& arguments, StepOptions& step) {
  if (!arguments.given("fit")) return {};
  const auto chosen = choice(arguments, "fit", fit_names);
  if (!chosen) return tl::unexpected(chosen.error());
  step.fit = static_cast<FitOf>(*chosen);
  if (arguments.given(fit_names[*chosen]))
    return fail(ErrorKind::usage, "looked for and given at once",
                fmt::format("--fit {0} with --{0}", fit_names[*chosen]), "one of the two");
  if (step.micro_batches.size() > 1 || step.sequences.size() > 1)
    return fail(ErrorKind::usage, "one value is looked for", "--fit with a list", "one micro batch and one length");
  return {};
}

/// The flag that asks for a step.
std::optional<std::string_view> asked_by(const Arguments& arguments) {
  for (const std::string_view flag : {"micro-batch", "seq", "fit", "accumulate", "global-batch", "keep-gradients",
                                      "attention", "checkpoint", "padding", "cache", "what-if", "compare-rules"})
    if (arguments.given(flag)) return flag;
  return std::nullopt;
}

Result<void> read_sizes(const Arguments& arguments, StepOptions& step) {
  step.micro_batches = {1};
  if (arguments.given("micro-batch")) {
    const auto values = counts(arguments, "micro-batch", most_sequences);
    if (!values) return tl::unexpected(values.error());
    step.micro_batches = *values;
  } else if (arguments.text("fit") != "micro-batch") {
    step.assumed.emplace_back("micro-batch");
  }
  if (!arguments.given("seq")) {
    if (arguments.text("fit") == "seq") return step.sequences = {1}, Result<void>{};
    return fail(ErrorKind::usage, "how long are the sequences?",
                fmt::format("--{} without --seq", *asked_by(arguments)), "--seq N");
  }
  const auto values = counts(arguments, "seq", most_tokens);
  if (!values) return tl::unexpected(values.error());
  step.sequences = *values;
  return {};
}

Result<void> check_alone(const PlanOptions& options) {
  if (options.gpus.empty())
    return fail(ErrorKind::usage, "on which GPU? Kernels and their workspaces depend on it", "--seq without --gpu",
                "--gpu NAME, or the variable ULLAGE_GPU", "'ullage gpus' lists the names");
  if (options.parameters)
    return fail(ErrorKind::usage, "a bare number of parameters has no layers", "--seq with --params", "a MODEL");
  return {};
}

}  // namespace

Result<std::uint64_t> accumulation_of(const PlanOptions& options, const StepOptions& step, std::uint64_t micro_batch) {
  if (!step.global_batch) return step.setup.accumulate;
  const std::uint64_t at_once = micro_batch * options.training.ranks, times = *step.global_batch / at_once;
  if (*step.global_batch % at_once == 0 && times >= 1 && times <= most_accumulated) return times;
  return fail(ErrorKind::usage, "the global batch is not made of such micro batches",
              fmt::format("--global-batch {} with --micro-batch {}{}", *step.global_batch, micro_batch,
                          options.training.ranks > 1 ? fmt::format(" on {} ranks", options.training.ranks) : ""),
              fmt::format("1 to {} times {} sequences", most_accumulated, at_once));
}

Result<std::optional<StepOptions>> step_options(const Arguments& arguments, const PlanOptions& options,
                                                const model::Model& model) {
  if (!asked_by(arguments)) return std::nullopt;
  if (const auto alone = check_alone(options); !alone) return tl::unexpected(alone.error());
  if (!options.train)
    if (const auto checked = refuse_in_inference(
            arguments, {"checkpoint", "accumulate", "global-batch", "keep-gradients", "what-if", "compare-rules"});
        !checked)
      return tl::unexpected(checked.error());
  StepOptions step;
  step.setup.train = options.train;
  for (const char* flag : {"attention", "checkpoint"})
    if (!arguments.given(flag) && (options.train || flag != std::string_view("checkpoint")))
      step.assumed.emplace_back(flag);
  for (const auto read : {read_sizes, read_fit, read_cache})
    if (const auto done = read(arguments, step); !done) return tl::unexpected(done.error());
  if (const auto done = read_choices(arguments, model, step); !done) return tl::unexpected(done.error());
  if (const auto done = read_global_batch(arguments, options, step); !done) return tl::unexpected(done.error());
  if (const auto done = read_precision(options, step.setup); !done) return tl::unexpected(done.error());
  if (const auto done = read_optimizer(options, step.setup); !done) return tl::unexpected(done.error());
  const auto frozen = planner::frozen_parameters(model, options.training.freeze);
  if (!frozen) return tl::unexpected(frozen.error());
  step.setup.frozen = *frozen;
  if (!options.train) step.checkpoint.clear();
  const bool one =
      options.gpus.size() == 1 && step.micro_batches.size() == 1 && step.sequences.size() == 1 && !step.fit;
  for (const char* flag : {"what-if", "compare-rules"})
    if (arguments.given(flag) && !one)
      return fail(ErrorKind::usage, "beside which plan?", fmt::format("--{}", flag),
                  "one GPU, one micro batch and one sequence length, without --fit");
  step.setup.micro_batch = static_cast<std::int64_t>(step.micro_batches.front());
  step.setup.sequence = static_cast<std::int64_t>(step.sequences.front());
  return step;
}

}  // namespace ullage::cli
