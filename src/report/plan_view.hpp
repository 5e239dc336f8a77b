// SPDX-License-Identifier: Apache-2.0
// What `ullage plan` prints: the states of a training, and what they leave of a device.
#pragma once

#include "ledger/chart.hpp"
#include "report/plan_cost.hpp"
#include "report/run_result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::report {

/// A parameter of the model, of every layer at once where a `*` stands in its name.
struct PlanParameter {
  std::string name;
  std::uint64_t repeat = 1;
  std::vector<std::uint64_t> shape;
  std::string tied_to;
};

struct PlanModel {
  std::string name, model_type, architecture;  ///< the last two empty for a bare count
  std::string origin;                          ///< where the configuration is from
  std::uint64_t parameters = 0, trained = 0;
  std::vector<PlanParameter> list;
  std::vector<std::string> assumed, ignored;  ///< fields of the configuration
};

struct PlanSetup {
  bool train = true;
  std::string precision, precision_meaning, framework, source;
  std::string optimizer, optimizer_meaning;  ///< empty for inference
  std::vector<std::string> freeze;
  std::uint64_t ranks = 1;
  unsigned zero = 0;
  std::string attention, checkpoint;  ///< of a step; empty for states
  std::uint64_t accumulate = 1;
  bool keep_gradients = false;
  bool padding = false;
  std::uint64_t cache = 0;           ///< tokens that a KV cache holds at the end; 0 for none
  std::string fit;                   ///< what --fit looks for; empty without
  std::vector<std::string> assumed;  ///< flags that were not given: "precision"
};

struct PlanFormula {
  std::string line, text, appears;
};

/// Where in a step something happens.
struct PlanMoment {
  std::string phase;
  std::uint32_t step = 0, micro_batch = 0;
  std::string module, operation;  ///< may be empty
};

/// "step 1 backward, model.layers.0 (aten::mm)".
[[nodiscard]] std::string where_text(const PlanMoment& moment);

/// Bytes.
struct PlanPhase {
  std::string phase;
  std::uint32_t step = 0, micro_batch = 0;
  std::uint64_t allocated = 0, reserved = 0, peak_allocated = 0, peak_reserved = 0;
  std::uint32_t last_step = 0;  ///< where it stands for several steps; else 0
};

struct PlanShortage {
  PlanMoment moment;
  std::uint64_t requested = 0;  ///< bytes
};

/// The neighbour of what --fit found: one more, or one rank less.
struct PlanNextValue {
  std::uint64_t value = 0;
  std::uint64_t needed = 0;  ///< bytes; 0 where it is refused
  std::string refused;       ///< why it cannot be planned at all
};

/// A planned step, where one was asked for.
struct PlanStep {
  std::uint64_t micro_batch = 0, sequence = 0;
  std::uint64_t peak_allocated = 0, peak_reserved = 0;
  PlanMoment allocated_at, reserved_at;
  std::vector<PlanPhase> phases;
  std::string refused;                       ///< why this point of a table cannot be planned; all else is empty then
  std::string verdict;                       ///< fits, tight, oom
  std::optional<PlanShortage> shortage;      ///< with the device's limit
  std::uint64_t retries = 0;                 ///< with the limit, cached memory had to be given back
  std::uint64_t with_limit = 0;              ///< bytes used at most where that made it pass; else 0
  std::optional<std::uint64_t> fit_value;    ///< with --fit: what was found; 0 when nothing fits
  bool fit_stopped = false;                  ///< no larger value was tried
  std::optional<PlanNextValue> fit_next;     ///< with --fit: what does not fit
  std::optional<PlanGeneration> generation;  ///< with a KV cache, in the place of `cost`
  std::optional<PlanCost> cost;              ///< where the GPU's rates are known
};

/// One device, or none when no GPU was named.
struct PlanPoint {
  std::optional<DeviceInfo> device;
  std::optional<PlanStep> step;
  std::vector<PlanFormula> formulas;  ///< with --explain: lines of a step that are no states
  ledger::Line ledger;                ///< context, where a device is known, and states
  std::uint64_t at_least = 0;         ///< its bytes
  bool fits_not = false;              ///< the states and the context alone are too much
  std::string at_best;                ///< fits or tight, where it is not sure that it does not fit
  std::uint64_t left = 0, missing = 0;
  double left_fraction = 0;
};

/// A popular closed form beside the plan. Bytes.
struct PlanRule {
  std::string name, formula, misses;
  std::vector<std::string> counts;  ///< what this setup does not have
  double bytes = 0;
};

/// One change to the setup, and what the step needs with it.
struct PlanChange {
  std::string change;  ///< the flags of it
  std::uint64_t needed = 0;
  std::int64_t saved = 0;         ///< bytes; negative where it needs more
  std::optional<double> seconds;  ///< of a step of as many tokens
  std::string verdict;
  std::uint64_t with_limit = 0;  ///< as of a step
};

/// --run-file; `path` is empty without one.
struct PlanRunFile {
  std::string path;
  bool training_arguments = false;
  std::vector<std::string> ignored;    ///< settings that are not read
  std::vector<std::string> unplanned;  ///< settings whose effect is not planned
};

struct PlanView {
  PlanModel model;
  PlanSetup setup;
  PlanRunFile run_file;
  std::vector<PlanPoint> points;  ///< at least one
  std::vector<PlanFormula> formulas;
  std::optional<PlanEnvelope> envelope;
  std::vector<PlanRule> rules;      ///< with --compare-rules
  std::vector<PlanChange> changes;  ///< with --what-if, the one that saves most first
  double headroom = 0;
  std::uint64_t reserve_bytes = 0;
  std::string transformers;  ///< version that the model description follows
  std::string torch;
};

/// What docs/plan_accuracy.md says of plans like one: so many were drawn at random and rehearsed, and their reserved
/// memory was off by at most that share.
struct DrawnPlans {
  unsigned count = 0;
  double most_off = 0;
};
/// Nothing of a kind that was not drawn.
[[nodiscard]] std::optional<DrawnPlans> drawn_like(const PlanSetup& setup);

/// For people; `explain` adds how each line comes about.
[[nodiscard]] std::string plan_text(const PlanView& view, bool explain);
/// For programs: docs/schemas/plan.schema.json.
[[nodiscard]] std::string plan_json(const PlanView& view);

}  // namespace ullage::report
