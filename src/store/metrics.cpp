// SPDX-License-Identifier: Apache-2.0
#include "store/metrics.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "store/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ullage::store {
namespace {

using Value = std::optional<std::int64_t>;

Value known(std::optional<std::uint64_t> value) {
  return value ? Value(static_cast<std::int64_t>(*value)) : std::nullopt;
}

Value field(const Json& run, const char* name, const char* inner) {
  const Json* value = at(&run, name);
  return known(count_of(*inner == 0 ? value : at(value, inner)));
}

Value line_bytes(const Json& line, std::string_view id) {
  if (text_of(at(&line, "id")) == id) return known(count_of(at(&line, "bytes")));
  for (const Json& child : items_of(at(&line, "children")))
    if (const Value found = line_bytes(child, id)) return found;
  return std::nullopt;
}

/// Memory that a ledger does not list is memory that is not there.
Value ledger_line(const Json& run, const char* id, const char*) {
  const Json* ledger = at(&run, "ledger");
  if (ledger == nullptr) return std::nullopt;
  return line_bytes(*ledger, id).value_or(0);
}

Value highest_in_phase(const Json& run, const char* name, const char*) {
  Value highest;
  for (const Json& phase : items_of(at(&run, "phases"))) {
    const Value peak = known(count_of(at(&phase, "peak_allocated_bytes")));
    if (peak && text_of(at(&phase, "name")) == name) highest = std::max(*peak, highest.value_or(0));
  }
  return highest;
}

/// From the end of the optimizer of the last but one step to that of the last.
Value step_growth(const Json& run, const char*, const char*) {
  Value before, last;
  for (const Json& phase : items_of(at(&run, "phases"))) {
    if (text_of(at(&phase, "name")) != "optimizer") continue;
    before = last;
    last = known(count_of(at(&phase, "allocated_bytes")));
  }
  return before && last ? Value(*last - *before) : std::nullopt;
}

Value fragmentation(const Json& run, const char*, const char*) {
  const auto reserved = count_of(at(&run, "peak", "reserved_bytes"));
  const auto allocated = count_of(at(&run, "peak", "allocated_bytes"));
  if (!reserved || !allocated || *reserved < *allocated) return std::nullopt;
  return known(*reserved - *allocated);
}

Value needed(const Json& run, const char*, const char*) {
  if (const auto exact = count_of(at(&run, "needed_bytes"))) return known(exact);
  const auto bound = count_of(at(&run, "needed_at_least_bytes"));
  return bound.value_or(0) > 0 ? known(bound) : std::nullopt;  // at least nothing says nothing
}

/// All of the device is left where a run broke off before it came to use it.
Value headroom(const Json& run, const char*, const char*) {
  const std::string verdict = text_of(at(&run, "verdict"));
  const bool broke_off = verdict == "failed" || verdict == "timeout";
  if (broke_off && at(&run, "peak") == nullptr) return std::nullopt;
  return known(count_of(at(&run, "headroom", "bytes")));
}

/// A figure in the whole numbers that are stored; nothing for one that no training has.
template <int scale>
Value scaled(const Json& run, const char* name, const char* inner) {
  constexpr double most = 1e15;
  const Json* value = at(&run, name, inner);
  if (value == nullptr || !value->IsNumber()) return std::nullopt;
  const double number = value->GetDouble() * scale;
  if (!(number >= 0) || number > most) return std::nullopt;
  return static_cast<std::int64_t>(number + 0.5);
}

constexpr int whole = 1, hundredths_of_percent = 10'000, in_microseconds = 1'000'000;

Value sum_of(const Json& run, const char* list, const char* key) {
  if (at(&run, list) == nullptr) return std::nullopt;
  std::uint64_t sum = 0;
  for (const Json& item : items_of(at(&run, list))) sum += count_or_0(at(&item, key)) & ((1ULL << 56) - 1);
  return known(sum & ((1ULL << 62) - 1));
}

Value findings(const Json& run, const char*, const char*) {
  if (at(&run, "findings") == nullptr) return std::nullopt;
  std::int64_t count = 0;
  for (const Json& finding : items_of(at(&run, "findings"))) count += text_of(at(&finding, "level")) == "problem";
  return count;
}

struct Definition {
  Metric metric;
  Value (*read)(const Json& run, const char* name, const char* inner);
  const char* name = "";
  const char* inner = "";
};

Value read(const Definition& definition, const Json& run) {
  return definition.read(run, definition.name, definition.inner);
}

constexpr Definition definitions[] = {
    {{"peak_allocated", Unit::bytes, true, "highest memory that PyTorch's tensors take, block rounding included"},
     field,
     "peak",
     "allocated_bytes"},
    {{"peak_reserved", Unit::bytes, true, "highest memory that PyTorch's allocator holds"},
     field,
     "peak",
     "reserved_bytes"},
    {{"peak_requested", Unit::bytes, true, "highest memory that the script asked for, without rounding"},
     field,
     "peak",
     "requested_bytes"},
    {{"peak_used", Unit::bytes, true, "highest memory in use on the device: context, PyTorch, other libraries"},
     field,
     "peak",
     "used_bytes"},
    {{"needed", Unit::bytes, true,
      "peak_used without a limit on memory; of a run that broke off, what it needs at least"},
     needed},
    {{"needed_reserved", Unit::bytes, true, "PyTorch's part of needed"}, field, "needed_reserved_bytes"},
    {{"missing", Unit::bytes, true, "by how much the device is too small; unknown where it is not"},
     field,
     "missing_bytes"},
    {{"headroom", Unit::bytes, false, "what is left of the device at the peak; more is better"}, headroom},
    {{"fragmentation", Unit::bytes, true, "peak_reserved less peak_allocated"}, fragmentation},
    {{"step_growth", Unit::bytes, true,
      "growth of allocated memory over the last step: from the end of the optimizer of the step before to its own",
      true},
     step_growth},
    {{"peak_load", Unit::bytes, true, "highest allocated memory before the first forward"}, highest_in_phase, "load"},
    {{"peak_forward", Unit::bytes, true, "highest allocated memory in any forward"}, highest_in_phase, "forward"},
    {{"peak_backward", Unit::bytes, true, "highest allocated memory in any backward"}, highest_in_phase, "backward"},
    {{"peak_optimizer", Unit::bytes, true, "highest allocated memory in any optimizer step"},
     highest_in_phase,
     "optimizer"},
    {{"context", Unit::bytes, true, "ledger at the peak: CUDA context and loaded modules"}, ledger_line, "context"},
    {{"parameters", Unit::bytes, true, "ledger at the peak: parameters"}, ledger_line, "parameters"},
    {{"gradients", Unit::bytes, true, "ledger at the peak: gradients"}, ledger_line, "gradients"},
    {{"optimizer_state", Unit::bytes, true, "ledger at the peak: optimizer state"}, ledger_line, "optimizer_state"},
    {{"activations", Unit::bytes, true, "ledger at the peak: activations"}, ledger_line, "activations"},
    {{"temporaries", Unit::bytes, true, "ledger at the peak: temporaries"}, ledger_line, "temporaries"},
    {{"inputs", Unit::bytes, true, "ledger at the peak: inputs"}, ledger_line, "inputs"},
    {{"workspaces", Unit::bytes, true, "ledger at the peak: workspaces of libraries"}, ledger_line, "workspaces"},
    {{"communication", Unit::bytes, true, "ledger at the peak: buffers of communication"},
     ledger_line,
     "communication"},
    {{"rounding", Unit::bytes, true, "ledger at the peak: sizes of blocks less what was asked for"},
     ledger_line,
     "rounding"},
    {{"unattributed", Unit::bytes, true, "ledger at the peak: memory whose owner is not known"},
     ledger_line,
     "unattributed"},
    {{"cached", Unit::bytes, true, "ledger at the peak: reserved and not allocated"}, ledger_line, "cached"},
    {{"outside_pytorch", Unit::bytes, true, "ledger at the peak: memory of other libraries"},
     ledger_line,
     "outside_pytorch"},
    {{"other_processes", Unit::bytes, true, "ledger at the peak: memory of other processes"},
     ledger_line,
     "other_processes"},
    {{"host_needed", Unit::bytes, true, "host memory that the processes of the run need"},
     field,
     "host",
     "needed_bytes"},
    {{"host_pinned", Unit::bytes, true, "highest pinned host memory"}, field, "host", "pinned_peak_bytes"},
    {{"copied", Unit::bytes, true, "bytes copied between host and device in the last step"}, sum_of, "copies", "bytes"},
    {{"synchronizations", Unit::count, true, "times that the host waited for the device in the last step"},
     sum_of,
     "synchronizations",
     "count"},
    {{"steps", Unit::count, true, "optimizer steps that were made"}, field, "steps"},
    {{"problems", Unit::count, true, "findings of the level problem"}, findings},
    {{"step_time", Unit::microseconds, true, "recordings: the median step on the host's clock"},
     scaled<in_microseconds>,
     "time",
     "seconds"},
    {{"tokens_per_second", Unit::count, false, "recordings: tokens of its steps in the time that they took"},
     scaled<whole>,
     "throughput",
     "tokens_per_second"},
    {{"padding", Unit::percent, true, "recordings: padding among the tokens"},
     scaled<hundredths_of_percent>,
     "throughput",
     "padding"},
    {{"mfu", Unit::percent, false,
      "recordings: FLOPs of the model, without recomputation, over what the device can do"},
     scaled<hundredths_of_percent>,
     "throughput",
     "mfu"},
};

constexpr auto table = [] {
  std::array<Metric, std::size(definitions)> made{};
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = definitions[i].metric;
  return made;
}();

}  // namespace

const char* name_of(Unit unit) {
  constexpr const char* names[] = {"bytes", "count", "microseconds", "percent"};
  return names[static_cast<std::size_t>(unit)];
}

std::span<const Metric> metrics() {
  return table;
}

Result<MetricId> find_metric(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Metric::name);
  if (found != table.end()) return static_cast<MetricId>(found - table.begin());
  std::vector<std::string_view> names;
  for (const Metric& metric : table) names.push_back(metric.name);
  std::string hint = suggestion(name, names);
  if (hint.empty()) hint = "'ullage check --list' prints them with their meaning";
  return fail(ErrorKind::usage, "unknown metric", "'" + std::string(name) + "'", "a name such as peak_reserved", hint);
}

std::optional<std::int64_t> value_of(std::span<const MetricValue> values, MetricId metric) {
  const auto found = std::ranges::find(values, metric, &MetricValue::metric);
  return found == values.end() ? std::nullopt : std::optional(found->value);
}

std::string value_text(MetricId metric, std::int64_t value) {
  switch (table[metric].unit) {
    case Unit::bytes:
      return format_signed_bytes(value);
    case Unit::microseconds:
      return fmt::format("{:.3f} ms", static_cast<double>(value) / 1000);
    case Unit::percent:
      return fmt::format("{:.2f} %", static_cast<double>(value) / 100);
    case Unit::count:
      break;
  }
  return std::to_string(value);
}

std::string change_text(MetricId metric, std::int64_t change) {
  return (change > 0 ? "+" : "") + value_text(metric, change);
}

std::vector<MetricValue> metrics_of(const rapidjson::Value& run) {
  std::vector<MetricValue> values;
  for (MetricId id = 0; id < std::size(definitions); ++id)
    if (const Value value = read(definitions[id], run)) values.push_back({id, *value});
  return values;
}

}  // namespace ullage::store
