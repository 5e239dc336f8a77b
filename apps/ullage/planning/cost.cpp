// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/cost.hpp"

#include "apps/ullage/hardware/quantity_text.hpp"
#include "apps/ullage/planning/numbers.hpp"
#include "cost/step/efficiency.hpp"
#include "cost/step/flops.hpp"
#include "cost/step/generation.hpp"
#include "cost/step/time.hpp"
#include "cost/step/totals.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

ComputePrecision half_of(const lowering::Setup& setup) {
  const lowering::DType type = setup.autocast ? setup.autocast_type : setup.weights;
  return type == lowering::DType::fp16 ? ComputePrecision::fp16 : ComputePrecision::bf16;
}

double tokens_of(const lowering::Setup& setup) {
  return static_cast<double>(setup.micro_batch) * static_cast<double>(setup.sequence) *
         static_cast<double>(setup.accumulate);
}

report::PlanSeconds seconds_view(const cost::SecondsRange& range) {
  return {range.low, range.value, range.high};
}

report::PlanFlops flops_view(const program::Program& program, const cost::StepWork& work, double parameters,
                             const lowering::Setup& setup) {
  const double tokens = tokens_of(setup);
  const cost::RuleComparison rule = cost::compare_with_rule(program, {parameters, tokens, setup.train});
  report::PlanFlops view;
  view.tokens = static_cast<std::uint64_t>(tokens);
  for (const cost::Pass pass : {cost::Pass::forward, cost::Pass::recomputed, cost::Pass::backward})
    if (work.of(pass).operators > 0)
      view.passes.push_back({std::string(cost::name_of(pass)), work.of(pass, cost::OperatorWork::matmul).flops,
                             work.of(pass, cost::OperatorWork::attention).flops});
  view.matmul = work.of(cost::OperatorWork::matmul).flops;
  view.attention = work.of(cost::OperatorWork::attention).flops;
  view.rule_factor = setup.train ? 6 : 2;
  view.rule = rule.rule, view.not_multiplied = rule.not_multiplied, view.attention_products = rule.attention;
  view.recomputed = rule.recomputed, view.not_trained = rule.not_trained, view.counted = rule.counted;
  return view;
}

/// The classes of operators, the slowest first.
std::vector<report::PlanWork> work_view(const cost::StepWork& work, const cost::StepTime& time) {
  std::vector<report::PlanWork> view;
  for (const cost::OperatorWork kind : cost::operator_classes) {
    const cost::WorkTotal total = work.of(kind);
    if (total.operators > 0)
      view.push_back({std::string(cost::name_of(kind)), time.seconds(kind), total.bytes, total.launches});
  }
  std::ranges::stable_sort(view, std::ranges::greater{}, &report::PlanWork::seconds);
  return view;
}

report::PlanTime time_view(const cost::StepTime& time, const cost::StepWork& work, const report::PlanFlops& flops,
                           const TrainingRun& training) {
  const double model_flops = flops.counted - flops.recomputed;
  const cost::Pace pace{time.step, static_cast<double>(flops.tokens), static_cast<double>(training.ranks)};
  report::PlanTime view;
  view.step = seconds_view(time.step);
  view.bound_by = cost::name_of(time.bound_by());
  view.compute_seconds = time.seconds(cost::Bound::compute), view.memory_seconds = time.seconds(cost::Bound::memory);
  view.launch_seconds = time.seconds(cost::Bound::launch);
  for (const cost::Pass pass : cost::passes)
    if (work.of(pass).operators > 0) view.passes.emplace_back(cost::name_of(pass), time.seconds(pass));
  view.work = work_view(work, time);
  view.tokens_per_second = pace.tokens_per_second();
  view.peak_flops = time.peak_flops;
  view.utilisation = cost::utilisation_of(model_flops, time.peak_flops, time.step.value);
  view.baseline_share = cost::baseline_mfu, view.baseline_source = cost::baseline_source;
  view.baseline_seconds = cost::constant_mfu_seconds(model_flops, time.peak_flops, cost::baseline_mfu);
  view.gpus = training.ranks;
  if (training.tokens) view.training = seconds_view(pace.seconds_for(*training.tokens));
  return view;
}

report::PlanPasses passes_view(const cost::PassesCost& cost, std::uint64_t tokens) {
  report::PlanPasses view;
  view.tokens = tokens, view.passes = cost.passes;
  view.matmul = cost.matmul_flops, view.attention = cost.attention_flops, view.bytes = cost.bytes;
  view.time = seconds_view(cost.seconds);
  view.device_seconds = cost.device_seconds;
  view.bound_by = cost::name_of(cost.bound_by());
  view.tokens_per_second = cost.seconds.value > 0 ? static_cast<double>(tokens) / cost.seconds.value : 0;
  return view;
}

bool is_emulated(const lowering::Setup& setup, const cost::DeviceRates& rates) {
  return (setup.autocast || lowering::is_half(setup.weights)) && rates.half_is_emulated;
}

}  // namespace

Result<TrainingLength> training_length(const Arguments& arguments) {
  TrainingLength length;
  if (const auto text = arguments.text("tokens")) {
    length.tokens = scaled_number(*text);
    if (!length.tokens || *length.tokens < 1 || *length.tokens > 1e18)
      return fail(ErrorKind::usage, "not a number of tokens", "--tokens " + *text,
                  "a number such as 300B, 2T or 1000000");
  }
  const auto text = arguments.text("flops-rate");
  if (!text) return length;
  if (!length.tokens)
    return fail(ErrorKind::usage, "how many tokens?", "--flops-rate without --tokens", "--tokens T as well");
  const auto rate = parse_quantity(facts()[static_cast<std::size_t>(Fact::bf16_peak)], *text);
  if (!rate || !(*rate >= 1 && *rate <= 1e24))
    return fail(ErrorKind::usage, "not a rate", "--flops-rate " + *text, "a number with FLOP/s, TFLOP/s or PFLOP/s");
  length.flops_per_second = *rate;
  return length;
}

std::optional<report::PlanEnvelope> envelope_of(const TrainingLength& length, std::uint64_t parameters) {
  if (!length.tokens) return std::nullopt;
  const auto count = static_cast<double>(parameters);
  report::PlanEnvelope view;
  view.tokens = *length.tokens;
  view.flops = cost::rule_of_thumb_flops(count, view.tokens);
  view.flops_per_second = length.flops_per_second;
  if (length.flops_per_second) view.seconds = cost::envelope_seconds(count, view.tokens, *length.flops_per_second);
  return view;
}

std::optional<report::PlanGeneration> generation_cost(const program::Program& program, const lowering::Setup& setup,
                                                      const Gpu& gpu) {
  const auto rates = cost::device_rates(gpu, half_of(setup));
  if (!rates) return std::nullopt;
  const cost::GenerationCost made = cost::generation_cost(program, *rates);
  const auto sequences = static_cast<std::uint64_t>(setup.micro_batch);
  report::PlanGeneration view;
  view.prefill = passes_view(made.prefill, sequences * static_cast<std::uint64_t>(setup.sequence));
  view.decode = passes_view(made.decode, sequences * made.decode.passes);
  view.last_token = seconds_view(made.last_token);
  view.emulated = is_emulated(setup, *rates);
  return view;
}

std::optional<report::PlanCost> step_cost(const program::Program& program, const lowering::Setup& setup,
                                          const model::Model& model, const Gpu& gpu, const TrainingRun& training) {
  const auto rates = cost::device_rates(gpu, half_of(setup));
  if (!rates) return std::nullopt;
  const cost::StepWork work = cost::work_of(program);
  const cost::StepTime time = cost::step_time(program, *rates);
  report::PlanCost view;
  view.flops = flops_view(program, work, static_cast<double>(model::parameter_count(model)), setup);
  view.time = time_view(time, work, view.flops, training);
  view.time.emulated = is_emulated(setup, *rates);
  return view;
}

}  // namespace ullage::cli
