// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/step.hpp"

#include "apps/ullage/choice.hpp"
#include "apps/ullage/device.hpp"
#include "apps/ullage/planning/formulas.hpp"
#include "base/text.hpp"
#include "ledger/verdict.hpp"
#include "planner/frozen.hpp"
#include "planner/ranks.hpp"
#include "planner/step_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace ullage::cli {
namespace {

using lowering::DType;
using lowering::Setup;

constexpr std::uint64_t most_sequences = 1 << 20, most_tokens = 1 << 24, most_accumulated = 1024;

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
  return fail(ErrorKind::usage, "not a way of checkpointing", "--checkpoint " + text, "none, full or every:N");
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

/// Micro batches of `micro_batch` sequences before an optimizer step, on each rank.
Result<std::uint64_t> accumulation_of(const PlanOptions& options, const StepOptions& step, std::uint64_t micro_batch) {
  if (!step.global_batch) return step.setup.accumulate;
  const std::uint64_t at_once = micro_batch * options.training.ranks, times = *step.global_batch / at_once;
  if (*step.global_batch % at_once == 0 && times >= 1 && times <= most_accumulated) return times;
  return fail(ErrorKind::usage, "the global batch is not made of such micro batches",
              fmt::format("--global-batch {} with --micro-batch {}{}", *step.global_batch, micro_batch,
                          options.training.ranks > 1 ? fmt::format(" on {} ranks", options.training.ranks) : ""),
              fmt::format("1 to {} times {} sequences", most_accumulated, at_once));
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
  constexpr std::array<std::string_view, 4> names{"micro-batch", "seq", "layers", "world"};
  const auto chosen = choice(arguments, "fit", names);
  if (!chosen) return tl::unexpected(chosen.error());
  step.fit = static_cast<FitOf>(*chosen);
  if (arguments.given(names[*chosen]))
    return fail(ErrorKind::usage, "looked for and given at once", fmt::format("--fit {0} with --{0}", names[*chosen]),
                "one of the two");
  if (step.micro_batches.size() > 1 || step.sequences.size() > 1)
    return fail(ErrorKind::usage, "one value is looked for", "--fit with a list", "one micro batch and one length");
  return {};
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
    return fail(ErrorKind::usage, "how long are the sequences?", "--micro-batch or --fit without --seq", "--seq N");
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

/// With a cache, passes have names of their own.
std::string phase_name(const Setup& setup, program::Phase phase, std::uint32_t step) {
  if (setup.cache == 0 || step == 0) return std::string(program::name_of(phase));
  return step == 1 ? "prefill" : "decode";
}

/// A forward pass for each token as two: the prefill, and all that follow as one.
std::vector<report::PlanPhase> generation_phases(const std::vector<report::PlanPhase>& phases) {
  std::vector<report::PlanPhase> merged;
  for (const report::PlanPhase& phase : phases) {
    if (merged.empty() || phase.step <= 2) {
      merged.push_back(phase);
      continue;
    }
    report::PlanPhase& decode = merged.back();
    decode.allocated = phase.allocated, decode.reserved = phase.reserved;
    decode.peak_allocated = std::max(decode.peak_allocated, phase.peak_allocated);
    decode.peak_reserved = std::max(decode.peak_reserved, phase.peak_reserved);
  }
  return merged;
}

report::PlanStep step_view(const planner::StepPlan& plan, const Setup& setup) {
  report::PlanStep view;
  view.micro_batch = static_cast<std::uint64_t>(setup.micro_batch);
  view.sequence = static_cast<std::uint64_t>(setup.sequence);
  view.peak_allocated = plan.peak_allocated, view.peak_reserved = plan.peak_reserved;
  view.allocated_at = moment_of(setup, plan.allocated_at), view.reserved_at = moment_of(setup, plan.reserved_at);
  for (const planner::PhasePeak& phase : plan.phases)
    view.phases.push_back({phase_name(setup, phase.phase, phase.step), phase.step, phase.micro_batch, phase.allocated,
                           phase.reserved, phase.peak_allocated, phase.peak_reserved});
  if (setup.cache > 0) view.phases = generation_phases(view.phases);
  return view;
}

/// The verdict on the need without a limit; where that is too much, a run with the limit has the last word: cached
/// memory that is given back in time may be enough.
void judge(const PlanOptions& options, const Setup& setup, const program::Program& program, std::uint64_t context,
           report::PlanPoint& point) {
  const std::uint64_t capacity = point.device->capacity_bytes;
  const auto bound = ledger::judge(capacity, point.at_least, options.headroom, options.reserve_bytes);
  point.step->verdict = ledger::name_of(bound.verdict);
  point.left = bound.left_bytes, point.missing = bound.missing_bytes, point.left_fraction = bound.fraction;
  if (bound.verdict != ledger::Verdict::oom) return;
  const std::uint64_t taken = context + options.reserve_bytes;
  const planner::StepPlan limited = planner::run_program(program, {}, capacity > taken ? capacity - taken : 0);
  point.step->retries = limited.retries;
  if (!limited.shortage) {
    point.step->verdict = ledger::name_of(ledger::Verdict::tight);
    return;
  }
  point.fits_not = true;
  point.step->shortage = report::PlanShortage{moment_of(setup, limited.shortage->moment), limited.shortage->requested};
}

void mark_estimated(ledger::Line& line) {
  line.known_by = ledger::KnownBy::estimated;
  for (ledger::Line& child : line.children) mark_estimated(child);
}

/// A model with another number of layers.
model::Model with_layers(model::Model model, std::uint64_t layers) {
  for (model::Group& group : model.groups)
    if (group.layers) group.repeat = layers;
  model.network.layers = layers;
  if (!model.network.slides.empty()) model.network.slides.resize(layers, model.network.slides.front());
  return model;
}

/// The point of so many layers. Errors: also where their states alone are too much, which is known at once.
Result<report::PlanPoint> layers_point(const PlanOptions& options, Setup setup, const model::Model& model,
                                       const Gpu& gpu, std::uint64_t layers) {
  const model::Model sized = with_layers(model, layers);
  if (const auto frozen = planner::frozen_parameters(sized, options.training.freeze)) setup.frozen = *frozen;
  const auto states = planner::states_of(sized, options.training);
  if (layers > 1 && states && states->bytes > options.memory_bytes.value_or(gpu.capacity_bytes()))
    return fail(ErrorKind::usage, "the states alone are too much", std::to_string(layers));
  return step_point(options, std::move(setup), sized, gpu);
}

/// The largest value from 1 to `most` that fits with the headroom, and its point; the point of 1, with value 0, where
/// none does. More of anything needs more memory, so halving finds it.
Result<report::PlanPoint> largest_fit(const PlanOptions& options, const StepOptions& step, const model::Model& model,
                                      const Gpu& gpu) {
  const std::uint64_t most = *step.fit == FitOf::micro_batch ? 4096
                             : *step.fit == FitOf::sequence  ? most_tokens / 16
                                                             : 1024;
  const auto planned = [&](std::uint64_t value) {
    Setup setup = step.setup;
    if (*step.fit == FitOf::layers) return layers_point(options, setup, model, gpu, value);
    (*step.fit == FitOf::micro_batch ? setup.micro_batch : setup.sequence) = static_cast<std::int64_t>(value);
    return step_point(options, setup, model, gpu);
  };
  const auto tried = [&](std::uint64_t value) {
    return planned(value).map([&](report::PlanPoint point) {
      point.step->fit_value = value;
      point.step->fit_stopped = value == most;
      return point;
    });
  };
  const auto fits = [](const report::PlanPoint& point) { return point.step->verdict == "fits"; };
  auto best = tried(1);
  if (!best) return best;
  if (!fits(*best)) return best->step->fit_value = 0, best;
  std::uint64_t good = 1, bad = most + 1;
  while (bad - good > 1) {
    const std::uint64_t middle = bad == most + 1 ? std::min(2 * good, most) : good + (bad - good) / 2;
    auto point = tried(middle);
    if (point && fits(*point)) {
      good = middle, best = std::move(point);
      if (good == most) break;
    } else {
      bad = middle;
    }
  }
  return best;
}

}  // namespace

report::PlanMoment moment_of(const Setup& setup, const planner::Moment& moment) {
  return {phase_name(setup, moment.phase, moment.step), moment.step, moment.micro_batch, moment.module,
          moment.operation};
}

Result<std::optional<StepOptions>> step_options(const Arguments& arguments, const PlanOptions& options,
                                                const model::Model& model) {
  bool asked = false;
  for (const char* flag : {"micro-batch", "seq", "fit", "accumulate", "global-batch", "keep-gradients", "attention",
                           "checkpoint", "padding", "cache", "what-if", "compare-rules"})
    asked = asked || arguments.given(flag);
  if (!asked) return std::nullopt;
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

Result<report::PlanPoint> step_point(const PlanOptions& options, const Setup& setup, const model::Model& model,
                                     const Gpu& gpu) {
  auto program = lowering::lower(model, setup, lowering::facts_of(gpu));
  if (!program) return tl::unexpected(program.error());
  return program_point(options, setup, model, gpu,
                       planner::of_one_rank(std::move(*program), options.training.zero, options.training.ranks));
}

Result<report::PlanPoint> program_point(const PlanOptions& options, const Setup& setup, const model::Model& model,
                                        const Gpu& gpu, const program::Program& program) {
  planner::StepPlan plan = planner::run_program(program, {});
  if (options.training.ranks > 1)
    for (ledger::Line& line : plan.lines) mark_estimated(line);
  if (plan.shortage)
    return fail(ErrorKind::usage, "this needs more memory than a process has addresses for",
                fmt::format("micro batch {}, sequence {}", setup.micro_batch, setup.sequence), "less than 127 TiB");
  const std::uint64_t context = context_bytes(gpu);
  report::PlanPoint point;
  if (options.explain) point.formulas = formulas_of(setup, program, plan);
  point.device = device_info(gpu, options.memory_bytes.value_or(gpu.capacity_bytes()));
  std::vector<ledger::Line> lines;
  lines.push_back({"context", "CUDA context and loaded modules", context, ledger::KnownBy::estimated, {}, {}, 0});
  lines.push_back(ledger::sum_line("reserved", "PyTorch reserved", ledger::KnownBy::derived, std::move(plan.lines)));
  if (options.training.ranks > 1) lines.back().known_by = ledger::KnownBy::estimated;
  point.ledger = ledger::sum_line("used", "used on the device", ledger::KnownBy::estimated, std::move(lines));
  point.at_least = point.ledger.bytes;
  point.step = step_view(plan, setup);
  if (setup.cache == 0)
    point.step->cost = step_cost(program, setup, model, gpu, {options.length.tokens, options.training.ranks});
  judge(options, setup, program, context, point);
  return point;
}

namespace {

/// A point that cannot be planned, with the reason.
report::PlanPoint refused_point(const PlanOptions& options, const Gpu& gpu, const Setup& setup, const Error& error) {
  report::PlanPoint point;
  point.device = device_info(gpu, options.memory_bytes.value_or(gpu.capacity_bytes()));
  point.step = report::PlanStep{};
  point.step->micro_batch = static_cast<std::uint64_t>(setup.micro_batch);
  point.step->sequence = static_cast<std::uint64_t>(setup.sequence);
  point.step->refused = error.where.empty() ? error.what : fmt::format("{}: {}", error.what, error.where);
  return point;
}

/// The points of one GPU, planned or refused.
class Points {
 public:
  Points(const PlanOptions& options, const Gpu& gpu, std::vector<report::PlanPoint>& points)
      : options_(options), gpu_(gpu), points_(points) {}

  void add(Result<report::PlanPoint> point, const Setup& setup) {
    if (!point && !error) error = point.error();
    points_.push_back(point ? std::move(*point) : refused_point(options_, gpu_, setup, point.error()));
  }
  std::optional<Error> error;  ///< the first

 private:
  const PlanOptions& options_;
  const Gpu& gpu_;
  std::vector<report::PlanPoint>& points_;
};

void add_grid(const PlanOptions& options, const StepOptions& step, const model::Model& model, const Gpu& gpu,
              Points& points) {
  for (const std::uint64_t sequence : step.sequences)
    for (const std::uint64_t micro_batch : step.micro_batches) {
      Setup setup = step.setup;
      setup.accumulate = static_cast<std::uint32_t>(*accumulation_of(options, step, micro_batch));
      setup.micro_batch = static_cast<std::int64_t>(micro_batch);
      setup.sequence = static_cast<std::int64_t>(sequence);
      points.add(step_point(options, setup, model, gpu), setup);
    }
}

}  // namespace

Result<std::vector<report::PlanPoint>> step_points(const PlanOptions& options, const StepOptions& step,
                                                   const model::Model& model) {
  std::vector<report::PlanPoint> points;
  std::optional<Error> error;
  for (const Gpu* gpu : options.gpus) {
    Points of_gpu(options, *gpu, points);
    if (!step.fit)
      add_grid(options, step, model, *gpu, of_gpu);
    else
      of_gpu.add(*step.fit == FitOf::world ? smallest_world(options, step, model, *gpu)
                                           : largest_fit(options, step, model, *gpu),
                 step.setup);
    if (!error) error = of_gpu.error;
  }
  const bool none = std::ranges::none_of(points, [](const auto& point) { return point.step->refused.empty(); });
  if (none && error) return tl::unexpected(*error);
  return points;
}

}  // namespace ullage::cli
