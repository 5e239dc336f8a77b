// SPDX-License-Identifier: Apache-2.0
#include "report/json/plan_view.hpp"

#include "report/json/device.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/ledger_lines.hpp"
#include "report/json/plan_cost.hpp"

namespace ullage::report {
namespace {

void text_field(JsonWriter& json, std::string_view name, const std::string& value) {
  if (!value.empty()) json.field(name, std::string_view(value));
}

void write_parameter(JsonWriter& json, const PlanParameter& parameter) {
  json.begin_object();
  json.field("name", std::string_view(parameter.name));
  json.field("repeat", parameter.repeat);
  json.begin_array("shape");
  for (const std::uint64_t size : parameter.shape) json.item(size);
  json.end_array();
  text_field(json, "tied_to", parameter.tied_to);
  json.end_object();
}

void write_model(JsonWriter& json, const PlanModel& model) {
  json.begin_object("model");
  json.field("name", std::string_view(model.name));
  text_field(json, "model_type", model.model_type);
  text_field(json, "architecture", model.architecture);
  text_field(json, "origin", model.origin);
  json.field("parameters", model.parameters);
  json.field("trained_parameters", model.trained);
  json.begin_array("parameter_list");
  for (const auto& parameter : model.list) write_parameter(json, parameter);
  json.end_array();
  write_texts(json, "assumed", model.assumed);
  write_texts(json, "ignored", model.ignored);
  json.end_object();
}

void write_setup(JsonWriter& json, const PlanSetup& setup) {
  json.begin_object("setup");
  json.field("mode", setup.train ? "train" : "infer");
  json.field("precision", std::string_view(setup.precision));
  json.field("framework", std::string_view(setup.framework));
  text_field(json, "optimizer", setup.optimizer);
  text_field(json, "attention", setup.attention);
  text_field(json, "checkpoint", setup.checkpoint);
  if (!setup.attention.empty()) json.field("accumulate", setup.accumulate);
  if (!setup.attention.empty()) json.field("keep_gradients", setup.keep_gradients);
  if (setup.padding) json.field("padding", true);
  if (setup.cache > 0) json.field("cache", setup.cache);
  text_field(json, "fit", setup.fit);
  write_texts(json, "freeze", setup.freeze);
  json.field("world", setup.ranks);
  json.field("zero", setup.zero);
  write_texts(json, "assumed", setup.assumed);
  json.end_object();
}

void write_accuracy(JsonWriter& json, const PlanSetup& setup) {
  const auto drawn = drawn_like(setup);
  if (!drawn) return;
  json.begin_object("accuracy");
  json.field("drawn", drawn->count);
  json.field("most_off", drawn->most_off);
  json.end_object();
}

void write_phases(JsonWriter& json, const PlanStep& step) {
  json.begin_array("phases");
  for (const PlanPhase& phase : step.phases) {
    json.begin_object();
    json.field("step", std::uint64_t{phase.step});
    if (phase.last_step > 0) json.field("last_step", std::uint64_t{phase.last_step});
    json.field("micro_batch", std::uint64_t{phase.micro_batch});
    json.field("name", std::string_view(phase.phase));
    json.field("allocated_bytes", phase.allocated);
    json.field("reserved_bytes", phase.reserved);
    json.field("peak_allocated_bytes", phase.peak_allocated);
    json.field("peak_reserved_bytes", phase.peak_reserved);
    json.end_object();
  }
  json.end_array();
}

void write_moment(JsonWriter& json, const PlanMoment& moment) {
  json.field("step", std::uint64_t{moment.step});
  json.field("phase", std::string_view(moment.phase));
  text_field(json, "where", moment.module);
  text_field(json, "operator", moment.operation);
}

/// As `ullage ledger --at fullest` has it.
std::string moment_title(const PlanMoment& moment) {
  const std::string step = moment.step > 0 ? "step " + std::to_string(moment.step) + " " : "";
  return "the most reserved and, of that, the most allocated, in " + step + moment.phase;
}

void write_next(JsonWriter& json, const PlanNextValue& next) {
  json.begin_object("next");
  json.field("value", next.value);
  if (next.needed > 0) json.field("needed_bytes", next.needed);
  text_field(json, "refused", next.refused);
  json.end_object();
}

void write_step(JsonWriter& json, const PlanSetup& setup, const PlanPoint& point) {
  const PlanStep& step = *point.step;
  json.begin_object("values");
  json.field("micro_batch", step.micro_batch);
  json.field("sequence", step.sequence);
  if (step.fit_value) json.field(setup.fit == "world" ? "smallest" : "largest", *step.fit_value);
  if (step.fit_stopped) json.field("search_ended", true);
  if (step.fit_next) write_next(json, *step.fit_next);
  json.end_object();
  if (!step.refused.empty()) {
    json.field("refused", std::string_view(step.refused));
    return write_device(json, *point.device);
  }
  json.field("verdict", std::string_view(step.verdict));
  write_device(json, *point.device);
  json.begin_object("peak");
  json.field("allocated_bytes", step.peak_allocated);
  json.field("reserved_bytes", step.peak_reserved);
  json.field("used_bytes", point.at_least);
  write_moment(json, step.allocated_at);
  json.end_object();
  json.field("needed_bytes", point.at_least);
  if (point.fits_not) json.field("missing_bytes", point.missing);
  if (step.shortage) {
    json.begin_object("shortage");
    json.field("requested_bytes", step.shortage->requested);
    write_moment(json, step.shortage->moment);
    json.end_object();
  }
  if (step.retries > 0) json.field("retries", step.retries);
  if (step.with_limit > 0) json.field("used_with_limit_bytes", step.with_limit);
  json.begin_object("headroom");
  json.field("bytes", point.left);
  json.field("fraction", point.left_fraction);
  json.end_object();
  write_phases(json, step);
  write_line(json, point.ledger, "ledger");
  json.field("ledger_of", std::string_view(moment_title(step.reserved_at)));
  if (step.generation) write_generation(json, *step.generation);
  if (step.cost) write_cost(json, *step.cost);
}

void write_point(JsonWriter& json, const PlanSetup& setup, const PlanPoint& point) {
  if (point.step) return write_step(json, setup, point);
  if (point.fits_not) json.field("verdict", "oom");
  text_field(json, "at_best", point.at_best);
  if (point.device) write_device(json, *point.device);
  json.field("needed_at_least_bytes", point.at_least);
  if (point.fits_not) json.field("missing_bytes", point.missing);
  if (point.device) {
    json.begin_object("headroom");
    json.field("bytes", point.left);
    json.field("fraction", point.left_fraction);
    json.end_object();
  }
  write_line(json, point.ledger, "ledger");
}

void write_changes(JsonWriter& json, const PlanView& view) {
  if (view.changes.empty()) return;
  json.begin_array("changes");
  for (const PlanChange& change : view.changes) {
    json.begin_object();
    json.field("change", std::string_view(change.change));
    json.field("needed_bytes", change.needed);
    json.field("saved_bytes", change.saved);
    if (change.seconds) json.field("seconds", *change.seconds);
    json.field("verdict", std::string_view(change.verdict));
    if (change.with_limit > 0) json.field("used_with_limit_bytes", change.with_limit);
    json.end_object();
  }
  json.end_array();
}

void write_rules(JsonWriter& json, const PlanView& view) {
  if (view.rules.empty()) return;
  json.begin_array("rules");
  for (const PlanRule& rule : view.rules) {
    json.begin_object();
    json.field("rule", std::string_view(rule.name));
    json.field("formula", std::string_view(rule.formula));
    json.field("bytes", rule.bytes);
    json.field("against_plan", rule.bytes / static_cast<double>(view.points.front().at_least) - 1);
    json.field("misses", std::string_view(rule.misses));
    write_texts(json, "counts", rule.counts);
    json.end_object();
  }
  json.end_array();
}

void write_points(JsonWriter& json, const PlanView& view) {
  if (view.points.size() == 1) return write_point(json, view.setup, view.points.front());
  json.begin_array("points");
  for (const PlanPoint& point : view.points) {
    json.begin_object();
    write_point(json, view.setup, point);
    json.end_object();
  }
  json.end_array();
}

void write_run_file(JsonWriter& json, const PlanRunFile& file) {
  if (file.path.empty()) return;
  json.begin_object("run_file");
  json.field("path", std::string_view(file.path));
  json.field("training_arguments", file.training_arguments);
  write_texts(json, "ignored", file.ignored);
  write_texts(json, "unplanned", file.unplanned);
  json.end_object();
}

void write_formulas(JsonWriter& json, const PlanView& view) {
  json.begin_array("formulas");
  for (const PlanFormula& formula : view.formulas) {
    json.begin_object();
    json.field("line", std::string_view(formula.line));
    json.field("formula", std::string_view(formula.text));
    json.field("there_from", std::string_view(formula.appears));
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_plan_fields(JsonWriter& json, const PlanView& view) {
  json.begin_object("stack");
  json.field("torch", std::string_view(view.torch));
  json.field("transformers", std::string_view(view.transformers));
  json.end_object();
  write_model(json, view.model);
  write_setup(json, view.setup);
  write_accuracy(json, view.setup);
  write_run_file(json, view.run_file);
  if (view.reserve_bytes > 0) json.field("reserve_bytes", view.reserve_bytes);
  write_points(json, view);
  write_changes(json, view);
  write_rules(json, view);
  if (view.envelope) write_envelope(json, *view.envelope);
  write_formulas(json, view);
  json.begin_object("evidence");
  const bool whole = view.points.front().step.has_value();
  json.field("partial", !whole);
  if (!whole) write_texts(json, "missing", {"activations", "temporaries", "workspaces", "rounding of the allocator"});
  json.end_object();
}

std::string plan_json(const PlanView& view) {
  JsonWriter json;
  json.begin_result("plan");
  write_plan_fields(json, view);
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
