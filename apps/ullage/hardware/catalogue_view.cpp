// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/hardware/catalogue_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hardware/rates.hpp"
#include "report/json/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ullage::cli {
namespace {

std::string format_quantity(double value, std::string_view unit) {
  if (unit == "B") return format_bytes(static_cast<std::uint64_t>(value));
  if (unit == "B/s") return fmt::format("{:.6g} GB/s", value / 1e9);
  if (unit == "FLOP/s") return fmt::format("{:.6g} TFLOP/s", value / 1e12);
  if (unit == "Hz") return fmt::format("{:.6g} MHz", value / 1e6);
  return unit.empty() ? fmt::format("{:.0f}", value) : fmt::format("{:.6g} {}", value, unit);
}

std::string format_fact(const Gpu& gpu, Fact fact) {
  const Quantity* quantity = gpu.find(fact);
  return quantity ? format_quantity(quantity->value, quantity->unit) : "-";
}

// A rate in a table whose heading says the unit.
std::string short_rate(const Gpu& gpu, Fact fact, double unit) {
  const KnownRate rate = rate_of(gpu, fact);
  return rate ? fmt::format("{:.4g}", rate->value / unit) : "-";
}

std::string_view meaning_of(Fact fact) {
  return facts()[static_cast<std::size_t>(fact)].meaning;
}

std::string form_factor_note(const Gpu& gpu) {
  if (!gpu.sxm_by_default()) return {};
  return fmt::format("{} is the SXM form: a name without a form factor means SXM where there is one.\n",
                     gpu.short_name);
}

std::vector<std::string> table_row(const Gpu& gpu) {
  constexpr double giga = 1e9, tera = 1e12;
  std::vector<std::string> row{std::string(gpu.short_name), compute_capability(gpu), format_fact(gpu, Fact::capacity),
                               format_fact(gpu, Fact::sm_count), short_rate(gpu, Fact::memory_bandwidth, giga)};
  for (const ComputePrecision precision : compute_precisions())
    row.push_back(short_rate(gpu, fact_of(precision), tera));
  row.push_back(short_rate(gpu, Fact::pcie_bandwidth, giga));
  row.push_back(short_rate(gpu, Fact::nvlink_bandwidth, giga));
  row.emplace_back(gpu.cuda_name);
  return row;
}

// Sources are long: the table has their numbers, the list below it their texts.
class Footnotes {
 public:
  std::string number_of(std::string_view source) {
    const auto found = std::find(sources_.begin(), sources_.end(), source);
    const auto index = found - sources_.begin();
    if (found == sources_.end()) sources_.push_back(source);
    return fmt::format("[{}]", index + 1);
  }
  [[nodiscard]] std::string text() const {
    std::string result;
    for (std::size_t i = 0; i < sources_.size(); ++i) result += fmt::format("[{}] {}\n", i + 1, sources_[i]);
    return result;
  }

 private:
  std::vector<std::string_view> sources_;
};

std::string format_range(const Quantity& quantity) {
  if (quantity.low == quantity.high) return "";
  return format_quantity(quantity.low, quantity.unit) + " .. " + format_quantity(quantity.high, quantity.unit);
}

std::string head_text(const Gpu& gpu) {
  std::string head = fmt::format("{}: {}", gpu.short_name, gpu.cuda_name);
  for (const std::string_view text : {gpu.architecture, gpu.form_factor})
    if (!text.empty()) head += fmt::format(", {}", text);
  head += fmt::format(", compute capability {}\n", compute_capability(gpu));
  if (!gpu.host_link.empty()) head += fmt::format("link to the host: {}\n", gpu.host_link);
  if (!gpu.gpu_link.empty()) head += fmt::format("link to other GPUs: {}\n", gpu.gpu_link);
  head += form_factor_note(gpu);
  if (!gpu.note.empty()) head += fmt::format("note: {}\n", gpu.note);
  return head;
}

std::string absent_rates(const Gpu& gpu) {
  std::string text;
  for (const Fact fact : rate_facts())
    if (const KnownRate rate = rate_of(gpu, fact); !rate)
      text += fmt::format("{}: {}\n", facts()[static_cast<std::size_t>(fact)].name, rate.error().reason);
  return text.empty() ? text : "\n" + text;
}

void write_quantity(JsonWriter& json, std::string_view name, const Quantity& quantity) {
  json.begin_object(name);
  json.number_field("value", quantity.value);
  json.number_field("low", quantity.low);
  json.number_field("high", quantity.high);
  if (!quantity.unit.empty()) json.field("unit", quantity.unit);
  if (quantity.unit == "FLOP/s") json.field("dense", true);
  json.field("known_by", quantity.known_by);
  json.field("source", quantity.source);
  if (!quantity.note.empty()) json.field("note", quantity.note);
  json.end_object();
}

void write_absent(JsonWriter& json, const Gpu& gpu) {
  json.begin_object("absent");
  for (const Fact fact : rate_facts()) {
    const KnownRate rate = rate_of(gpu, fact);
    if (rate) continue;
    json.begin_object(facts()[static_cast<std::size_t>(fact)].name);
    json.field("why", rate.error().kind == NoRate::Kind::not_in_hardware ? "not_in_hardware" : "not_known");
    json.field("reason", rate.error().reason);
    json.end_object();
  }
  json.end_object();
}

void write_text(JsonWriter& json, std::string_view name, std::string_view text) {
  if (!text.empty()) json.field(name, text);
}

void write_gpu(JsonWriter& json, const Gpu& gpu) {
  json.begin_object();
  json.field("short_name", gpu.short_name);
  json.field("name", gpu.cuda_name);
  write_text(json, "architecture", gpu.architecture);
  json.field("compute_capability", compute_capability(gpu));
  write_text(json, "form_factor", gpu.form_factor);
  json.field("form_factor_assumed", gpu.sxm_by_default());
  write_text(json, "host_link", gpu.host_link);
  write_text(json, "gpu_link", gpu.gpu_link);
  write_text(json, "note", gpu.note);
  json.field("capacity_bytes", gpu.capacity_bytes());
  json.begin_object("quantities");
  for (const auto& [fact, quantity] : gpu.known)
    write_quantity(json, facts()[static_cast<std::size_t>(fact)].name, quantity);
  json.end_object();
  write_absent(json, gpu);
  json.end_object();
}

}  // namespace

std::string compute_capability(const Gpu& gpu) {
  return fmt::format("{}.{}", gpu.cc_major, gpu.cc_minor);
}

std::string gpu_table(std::span<const Gpu* const> gpus) {
  std::vector<Table::Column> columns{{"name", Align::left},
                                     {"cc", Align::right},
                                     {"memory", Align::right},
                                     {"SMs", Align::right},
                                     {"GB/s", Align::right}};
  for (const ComputePrecision precision : compute_precisions())
    columns.push_back({std::string(name_of(precision)), Align::right});
  columns.push_back({"host", Align::right});
  columns.push_back({"NVLink", Align::right});
  columns.push_back({"CUDA name", Align::left});
  Table table(std::move(columns));
  for (const Gpu* gpu : gpus) table.add(table_row(*gpu));
  return table.text() +
         "\nmemory is what CUDA shows, context included; GB/s its bandwidth; fp64 to fp8 in TFLOP/s, dense (a figure "
         "\"with sparsity\"\nis twice as high), fp32 accumulation; host and NVLink in GB/s, one direction. A name "
         "without a form factor means SXM where\nthere is one. 'ullage gpus NAME' shows every number with its range "
         "and source.\n";
}

std::string gpu_details(const Gpu& gpu) {
  Footnotes footnotes;
  Table table({{"quantity"}, {"value", Align::right}, {"range"}, {"known by"}, {"source"}, {"note"}});
  for (const auto& [fact, quantity] : gpu.known)
    table.add({std::string(meaning_of(fact)), format_quantity(quantity.value, quantity.unit), format_range(quantity),
               std::string(quantity.known_by), footnotes.number_of(quantity.source), std::string(quantity.note)});
  return head_text(gpu) + "\n" + table.text() + absent_rates(gpu) + "\n" + footnotes.text();
}

std::string gpus_json(std::span<const Gpu* const> gpus) {
  JsonWriter json;
  json.begin_result("gpus");
  json.begin_array("gpus");
  for (const Gpu* gpu : gpus) write_gpu(json, *gpu);
  json.end_array();
  json.end_object();
  return json.text();
}

}  // namespace ullage::cli
