// SPDX-License-Identifier: Apache-2.0
#include "report/json/plan_cost.hpp"

namespace ullage::report {
namespace {

void write_flops(JsonWriter& json, const PlanFlops& flops) {
  json.begin_object("flops");
  json.number_field("matmul", flops.matmul);
  json.number_field("attention", flops.attention);
  json.number_field("total", flops.counted);
  json.field("tokens", flops.tokens);
  json.begin_array("passes");
  for (const PlanPass& pass : flops.passes) {
    json.begin_object();
    json.field("name", std::string_view(pass.name));
    json.number_field("matmul", pass.matmul);
    json.number_field("attention", pass.attention);
    json.end_object();
  }
  json.end_array();
  json.begin_object("rule_of_thumb");
  json.number_field("flops", flops.rule);
  json.number_field("not_multiplied", flops.not_multiplied);
  json.number_field("attention", flops.attention_products);
  json.number_field("recomputed", flops.recomputed);
  json.number_field("not_trained", flops.not_trained);
  json.end_object();
  json.end_object();
}

void write_range(JsonWriter& json, const PlanSeconds& range) {
  json.field("seconds", range.value);
  json.field("low", range.low);
  json.field("high", range.high);
}

void write_work(JsonWriter& json, const PlanTime& time) {
  json.begin_array("operators");
  for (const PlanWork& work : time.work) {
    json.begin_object();
    json.field("class", std::string_view(work.name));
    json.field("seconds", work.seconds);
    json.number_field("bytes", work.bytes);
    json.field("launches", work.launches);
    json.end_object();
  }
  json.end_array();
}

void write_time(JsonWriter& json, const PlanTime& time) {
  json.begin_object("time");
  write_range(json, time.step);
  json.field("known_by", "estimated");
  json.field("bound_by", std::string_view(time.bound_by));
  json.begin_object("bounds");
  json.field("compute_seconds", time.compute_seconds);
  json.field("memory_seconds", time.memory_seconds);
  json.field("launch_seconds", time.launch_seconds);
  json.end_object();
  json.begin_object("passes");
  for (const auto& [name, seconds] : time.passes) json.field(name + "_seconds", seconds);
  json.end_object();
  write_work(json, time);
  json.field("tokens_per_second", time.tokens_per_second);
  json.field("mfu", time.utilisation);
  json.number_field("peak_flops_per_second", time.peak_flops);
  json.field("emulated", time.emulated);
  json.begin_object("baseline");
  json.field("mfu", time.baseline_share);
  json.field("source", std::string_view(time.baseline_source));
  json.field("seconds", time.baseline_seconds);
  json.end_object();
  if (time.training) {
    json.begin_object("training");
    write_range(json, *time.training);
    json.field("gpu_hours", static_cast<double>(time.gpus) * time.training->value / 3600);
    json.end_object();
  }
  json.end_object();
}

void write_passes(JsonWriter& json, const char* name, const PlanPasses& passes) {
  if (passes.passes == 0) return;
  json.begin_object(name);
  json.field("tokens", passes.tokens);
  json.field("passes", passes.passes);
  json.begin_object("flops");
  json.number_field("matmul", passes.matmul);
  json.number_field("attention", passes.attention);
  json.end_object();
  json.number_field("bytes", passes.bytes);
  json.begin_object("time");
  write_range(json, passes.time);
  json.end_object();
  json.field("device_seconds", passes.device_seconds);
  json.field("bound_by", std::string_view(passes.bound_by));
  json.field("tokens_per_second", passes.tokens_per_second);
  json.end_object();
}

}  // namespace

void write_generation(JsonWriter& json, const PlanGeneration& generation) {
  json.begin_object("generation");
  json.field("known_by", "estimated");
  write_passes(json, "prefill", generation.prefill);
  write_passes(json, "decode", generation.decode);
  json.begin_object("last_token");
  write_range(json, generation.last_token);
  json.end_object();
  json.field("emulated", generation.emulated);
  json.end_object();
}

void write_cost(JsonWriter& json, const PlanCost& cost) {
  write_flops(json, cost.flops);
  write_time(json, cost.time);
}

void write_envelope(JsonWriter& json, const PlanEnvelope& envelope) {
  json.begin_object("envelope");
  json.number_field("tokens", envelope.tokens);
  json.number_field("flops", envelope.flops);
  if (envelope.flops_per_second) {
    json.number_field("flops_per_second", *envelope.flops_per_second);
    json.field("seconds", envelope.seconds);
  }
  json.end_object();
}

}  // namespace ullage::report
