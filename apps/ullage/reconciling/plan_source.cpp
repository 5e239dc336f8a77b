// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/reconciling/source.hpp"

#include "apps/ullage/reconciling/column_time.hpp"

#include "apps/ullage/history/open.hpp"
#include "apps/ullage/history/stored_result.hpp"
#include "ingest/file/source.hpp"
#include "model/catalogue.hpp"
#include "store/json_text.hpp"
#include "store/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace ullage::cli {
namespace {

using store::at;
using store::count_of;
using store::count_or_0;
using store::Json;
using store::text_of;

tl::unexpected<Error> no_plan(const std::string& what, const std::string& where) {
  return fail(ErrorKind::bad_input, what, where, "what 'ullage plan MODEL --gpu NAME --seq N --json' prints");
}

tl::unexpected<Error> no_such_plan(const std::string& path) {
  return fail(ErrorKind::io, "no such file", "--plan " + path, "a file with what 'ullage plan ... --json' prints",
              fmt::format("make it: ullage plan {} --gpu NAME --seq N --micro-batch N --json > plan.json",
                          model::find_in_catalogue(path) != nullptr ? path : "MODEL"));
}

void take_text(ReconcileSource& source, const char* key, const std::string& text) {
  if (!text.empty()) source.facts[key] = text;
}

void take_count(ReconcileSource& source, const char* key, const Json* value) {
  if (const auto count = count_of(value)) source.facts[key] = std::to_string(*count);
}

/// What a plain training of one device does not have.
void take_unusual(ReconcileSource& source, const Json& plan) {
  if (text_of(at(&plan, "setup", "mode")) == "infer") source.facts[fact::mode] = "infer";
  take_count(source, fact::cache, at(&plan, "setup", "cache"));
  if (at(&plan, "setup", "padding") != nullptr) source.facts[fact::padding] = "yes";
  if (count_of(at(&plan, "setup", "world")).value_or(1) < 2) return;
  take_count(source, fact::world, at(&plan, "setup", "world"));
  take_count(source, fact::zero, at(&plan, "setup", "zero"));
}

void take_facts(ReconcileSource& source, const Json& plan) {
  take_text(source, fact::model, text_of(at(&plan, "model", "model_type")));
  take_count(source, fact::parameters, at(&plan, "model", "parameters"));
  take_text(source, fact::gpu, text_of(at(&plan, "device", "short_name")));
  take_text(source, fact::torch, short_version(text_of(at(&plan, "stack", "torch"))));
  take_count(source, fact::micro_batch, at(&plan, "values", "micro_batch"));
  take_count(source, fact::sequence, at(&plan, "values", "sequence"));
  for (const char* key : {fact::precision, fact::optimizer, fact::attention, fact::checkpoint})
    take_text(source, key, text_of(at(&plan, "setup", key)));
  take_count(source, fact::accumulate, at(&plan, "setup", "accumulate"));
  take_unusual(source, plan);
}

/// False for a time that is none.
bool take_time(ReconcileSource& source, const Json& plan) {
  const Json* time = at(&plan, "time");
  if (time == nullptr) return true;
  source.column.time = column_time(*time, text_of(at(time, "known_by")));
  return source.column.time.has_value();
}

std::string producer_of(const Json& plan) {
  return fmt::format("plan of {}, torch {}", text_of(at(&plan, "model", "name")), text_of(at(&plan, "stack", "torch")));
}

Result<ReconcileSource> source_of(const Json& plan, const std::string& where) {
  if (text_of(at(&plan, "command")) != "plan") return no_plan("this is no plan", where);
  if (at(&plan, "points") != nullptr) return no_plan("a plan of several points: which of them?", where);
  const Json* ledger = at(&plan, "ledger");
  if (ledger == nullptr || !ledger->IsObject()) return no_plan("this plan has no ledger", where);
  ReconcileSource source;
  source.ledger = ledger_line(*ledger);
  if (!ledger::is_named(*source.ledger)) return no_plan("a line of this plan has no name", where);
  if (!ledger::check(*source.ledger).empty()) return no_plan("the lines of this plan do not add up", where);
  source.column = {"plan", where, text_of(at(&plan, "ledger_of")), producer_of(plan), {}};
  source.limits = {at(&plan, "values") == nullptr, true, phase_of_moment(source.column.moment)};
  if (source.limits.states_alone) source.column.moment = "all times: states alone";
  const Totals totals{count_or_0(at(&plan, "peak", "allocated_bytes")), count_or_0(at(&plan, "peak", "reserved_bytes")),
                      count_or_0(at(&plan, "peak", "used_bytes"))};
  source.highest = totals;
  source.totals = totals.reserved > 0 ? totals_line(totals, *source.ledger) : *source.ledger;
  take_facts(source, plan);
  if (!take_time(source, plan)) return no_plan("the time of this plan is none", where);
  return source;
}

}  // namespace

std::string short_version(const std::string& torch) {
  const auto first = torch.find('.');
  return torch.substr(0, torch.find_first_of(".+", first == torch.npos ? first : first + 1));
}

Result<ReconcileSource> plan_source(const std::string& path) {
  std::error_code error;
  if (path != "-" && !std::filesystem::exists(path, error)) return no_such_plan(path);
  auto file = ingest::Source::open_once(path);
  if (!file) return tl::unexpected(file.error());
  const auto bytes = file->rest();
  if (file->damage()) return tl::unexpected(*file->damage());
  const auto plan = store::parse_object({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  if (!plan) return tl::unexpected(plan.error());
  return source_of(*plan, path);
}

Result<std::optional<ReconcileSource>> kept_plan(const store::Record& run) {
  const auto result = store::parse_object(run.source.run_json, run.summary.directory);
  const Json* plan = result ? at(&*result, "plan") : nullptr;
  if (plan == nullptr) return std::nullopt;
  return source_of(*plan, "kept with " + run.summary.id).map([](ReconcileSource source) {
    return std::optional(std::move(source));
  });
}

Result<std::optional<ReconcileSource>> kept_plan(const std::string& argument) {
  std::error_code error;
  if (argument == "-" || std::filesystem::is_regular_file(argument, error)) return std::nullopt;
  const auto record = open_record(argument);
  return record ? kept_plan(*record) : std::nullopt;  // where there is no run, the run's own source says why
}

}  // namespace ullage::cli
