// SPDX-License-Identifier: Apache-2.0
#include "report/text/plan_cost.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace ullage::report {
namespace {

/// A number with the largest decimal prefix that gives at least 1: "12.34 T".
std::string scaled(double value) {
  constexpr std::array<std::pair<double, const char*>, 7> prefixes{
      {{1e21, " Z"}, {1e18, " E"}, {1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
  for (const auto& [factor, prefix] : prefixes)
    if (std::abs(value) >= factor) return fmt::format("{:.2f}{}", value / factor, prefix);
  return fmt::format("{:.0f} ", value);
}

std::string flops_of(double flops) {
  return scaled(flops) + "FLOP";
}

/// "2.00 T" of tokens as people write them: "2T", "300B".
std::string tokens_text(double tokens) {
  constexpr std::array<std::pair<double, const char*>, 4> units{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [factor, unit] : units)
    if (tokens >= factor) return fmt::format("{:.4g}{}", tokens / factor, unit);
  return fmt::format("{:.0f}", tokens);
}

/// Hours, and days where they are many.
std::string hours_text(double seconds) {
  if (seconds < 3600) return seconds_text(seconds);
  const double hours = seconds / 3600;
  const std::string text = grouped(static_cast<std::uint64_t>(std::llround(hours)));
  if (hours >= 48)
    return fmt::format("{} hours ({} days)", text, grouped(static_cast<std::uint64_t>(std::llround(hours / 24))));
  return hours >= 10 ? text + " hours" : fmt::format("{:.2f} hours", hours);
}

/// "5,204", "93.6", "0.0412".
std::string hours_number(double hours) {
  return hours >= 1000 ? grouped(static_cast<std::uint64_t>(std::llround(hours))) : fmt::format("{:.3g}", hours);
}

std::string flops_table(const PlanFlops& flops) {
  Table table({{"pass"}, {"matmul", Align::right}, {"attention", Align::right}, {"together", Align::right}});
  for (const PlanPass& pass : flops.passes)
    table.add({pass.name, flops_of(pass.matmul), flops_of(pass.attention), flops_of(pass.matmul + pass.attention)});
  table.add({"step", flops_of(flops.matmul), flops_of(flops.attention), flops_of(flops.counted)});
  return table.text();
}

/// From the rule of thumb to the count, line by line.
std::string rule_table(const PlanFlops& flops) {
  Table table({{""}, {"", Align::right}, {""}});
  const auto line = [&](const char* what, double value, const std::string& why) {
    if (value != 0) table.add({what, flops_of(value), why});
  };
  line("rule of thumb", flops.rule, fmt::format("{} x parameters x tokens", flops.rule_factor));
  line("not multiplied", flops.not_multiplied, "embeddings are looked up, norms and biases are pointwise");
  line("attention", flops.attention_products, "scores and their products with the values grow with the sequence");
  line("recomputed", flops.recomputed, "checkpointing runs the forward pass again: about 8 instead of 6");
  line("not trained", flops.not_trained, "gradients that nobody wants");
  line("counted", flops.counted, "");
  return table.text();
}

std::string flops_text(const PlanFlops& flops, std::uint64_t ranks) {
  return fmt::format("\nFLOPS of a step of {} token{}{}, 2 for each multiply-add, nothing masked away\n",
                     grouped(flops.tokens), flops.tokens == 1 ? "" : "s", ranks > 1 ? " on one rank" : "") +
         flops_table(flops) + "\n" + rule_table(flops);
}

constexpr const char* emulated_text = "  this GPU has no matrix units for the 16-bit type: taken at its fp32 rate\n";

std::string share_text(double part, double whole) {
  return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0);
}

std::string work_table(const PlanTime& time) {
  Table table({{"on the device"},
               {"time", Align::right},
               {"share", Align::right},
               {"bytes moved", Align::right},
               {"launches", Align::right}});
  for (const PlanWork& work : time.work)
    table.add({work.name, seconds_text(work.seconds), share_text(work.seconds, time.step.value),
               format_bytes(static_cast<std::uint64_t>(work.bytes)), grouped(work.launches)});
  return table.text();
}

std::string bound_name(const std::string& bound) {
  return bound == "memory" ? "memory bandwidth" : bound == "launch" ? "launches" : "compute";
}

std::string bound_text(const PlanTime& time) {
  return fmt::format("bound by {}: compute {}, memory bandwidth {}, launches {}", bound_name(time.bound_by),
                     share_text(time.compute_seconds, time.step.value),
                     share_text(time.memory_seconds, time.step.value),
                     share_text(time.launch_seconds, time.step.value));
}

std::string training_text(const PlanTime& time, double tokens) {
  if (!time.training) return {};
  const std::string gpus = time.gpus > 1 ? fmt::format("{} such GPUs", grouped(time.gpus)) : "one such GPU";
  const double each = static_cast<double>(time.gpus) / 3600;
  return fmt::format("  {} tokens on {}: {}; {} GPU-hours ({} to {}){}\n", tokens_text(tokens), gpus,
                     hours_text(time.training->value), gpu_hours_text(time), hours_number(each * time.training->low),
                     hours_number(each * time.training->high), time.gpus > 1 ? ", without time on the wire" : "");
}

/// Whose a rate is.
std::string of_ranks(std::uint64_t ranks) {
  return ranks > 1 ? fmt::format(" of all {} ranks", grouped(ranks)) : "";
}

std::string time_text(const PlanTime& time, double training_tokens) {
  std::string text = fmt::format("\nTIME of a step{}, an estimate: a roofline of each operator\n",
                                 time.gpus > 1 ? " of one rank without time on the wire" : "");
  text += fmt::format("  {} ({} to {}), {}\n", seconds_text(time.step.value), seconds_text(time.step.low),
                      seconds_text(time.step.high), bound_text(time));
  std::vector<std::string> passes;
  for (const auto& [name, seconds] : time.passes) passes.push_back(name + " " + seconds_text(seconds));
  text += "  " + join(passes, ", ") + "\n";
  text += fmt::format("  {} tokens/s{}; {:.1f} % MFU of {:.4g} TFLOP/s\n",
                      grouped(static_cast<std::uint64_t>(std::llround(time.tokens_per_second))), of_ranks(time.gpus),
                      100 * time.utilisation, time.peak_flops / 1e12);
  text += fmt::format("  beside it, at a constant {:.0f} % MFU ({}): {}\n", 100 * time.baseline_share,
                      time.baseline_source, seconds_text(time.baseline_seconds));
  if (time.emulated) text += emulated_text;
  return text + training_text(time, training_tokens) + work_table(time);
}

std::string passes_table(const PlanGeneration& generation) {
  Table table({{""},
               {"tokens", Align::right},
               {"matmul", Align::right},
               {"attention", Align::right},
               {"bytes moved", Align::right},
               {"time", Align::right},
               {"tokens/s", Align::right},
               {"bound by"}});
  const auto row = [&](const char* name, const PlanPasses& passes) {
    if (passes.passes == 0) return;
    table.add({name, grouped(passes.tokens), flops_of(passes.matmul), flops_of(passes.attention),
               format_bytes(static_cast<std::uint64_t>(passes.bytes)), seconds_text(passes.time.value),
               grouped(static_cast<std::uint64_t>(std::llround(passes.tokens_per_second))),
               bound_name(passes.bound_by)});
  };
  row("prefill", generation.prefill);
  row("decode", generation.decode);
  return table.text();
}

std::string each_token_text(const PlanGeneration& generation) {
  const PlanPasses& decode = generation.decode;
  if (decode.passes == 0) return {};
  const auto passes = static_cast<double>(decode.passes);
  const auto& last = generation.last_token;
  return fmt::format(
      "  a token of each sequence: {} ({} to {}) on average, the last {} ({} to {}); on the device alone {}\n",
      seconds_text(decode.time.value / passes), seconds_text(decode.time.low / passes),
      seconds_text(decode.time.high / passes), seconds_text(last.value), seconds_text(last.low),
      seconds_text(last.high), seconds_text(decode.device_seconds / passes));
}

}  // namespace

std::string generation_text(const PlanGeneration& generation) {
  const PlanSeconds& first = generation.prefill.time;
  std::string text = "\nFLOPS AND TIME of the generation, an estimate: a roofline of each operator\n";
  text += passes_table(generation);
  text += fmt::format("  the first token: {} ({} to {})\n", seconds_text(first.value), seconds_text(first.low),
                      seconds_text(first.high));
  text += each_token_text(generation);
  return generation.emulated ? text + emulated_text : text;
}

std::string seconds_text(double seconds) {
  if (seconds >= 100) return fmt::format("{:.0f} s", seconds);
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.1f} ms", 1e3 * seconds);
  return fmt::format("{:.0f} us", 1e6 * seconds);
}

std::string gpu_hours_text(const PlanTime& time) {
  return hours_number(static_cast<double>(time.gpus) * time.training->value / 3600);
}

std::string cost_text(const PlanCost& cost, double training_tokens) {
  return flops_text(cost.flops, cost.time.gpus) + time_text(cost.time, training_tokens);
}

std::string envelope_text(const PlanEnvelope& envelope) {
  std::string text = fmt::format("\nBACK OF THE ENVELOPE\n  6 x parameters x {} tokens = {}",
                                 tokens_text(envelope.tokens), flops_of(envelope.flops));
  if (!envelope.flops_per_second) return text + "\n";
  return text + fmt::format("; at {}FLOP/s: {}\n", scaled(*envelope.flops_per_second), hours_text(envelope.seconds));
}

}  // namespace ullage::report
