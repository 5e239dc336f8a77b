// SPDX-License-Identifier: Apache-2.0
// `ullage gpus`: the hardware catalogue, as a table or in detail.
#include "apps/ullage/command.hpp"
#include "apps/ullage/output.hpp"
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hardware/catalogue.hpp"
#include "report/json/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::string compute_capability(const Gpu& gpu) {
  return fmt::format("{}.{}", gpu.cc_major, gpu.cc_minor);
}

std::string form_factor_note(const Gpu& gpu) {
  if (!gpu.sxm_by_default()) return {};
  return fmt::format("{} is the SXM form: a name without a form factor means SXM where there is one.\n",
                     gpu.short_name);
}

std::string list_text() {
  Table table({{"name", Align::left},
               {"CUDA name", Align::left},
               {"cc", Align::right},
               {"memory", Align::right},
               {"SMs", Align::right},
               {"bandwidth", Align::right},
               {"bf16 peak", Align::right}});
  for (const Gpu& gpu : gpus()) {
    table.add({std::string(gpu.short_name), std::string(gpu.cuda_name), compute_capability(gpu),
               format_fact(gpu, Fact::capacity), format_fact(gpu, Fact::sm_count),
               format_fact(gpu, Fact::memory_bandwidth), format_fact(gpu, Fact::bf16_peak)});
  }
  return table.text() +
         "\nmemory is what CUDA shows, context included; peaks are dense. A name without a form factor means SXM where "
         "there"
         " is one.\n'ullage gpus NAME' shows every number with its range and source.\n";
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

std::string detail_text(const Gpu& gpu) {
  Footnotes footnotes;
  Table table({{"quantity"}, {"value", Align::right}, {"range"}, {"known by"}, {"source"}, {"note"}});
  for (const auto& [fact, quantity] : gpu.known) {
    const FactInfo& info = facts()[static_cast<std::size_t>(fact)];
    table.add({std::string(info.meaning), format_quantity(quantity.value, quantity.unit), format_range(quantity),
               std::string(quantity.known_by), footnotes.number_of(quantity.source), std::string(quantity.note)});
  }
  std::string head = fmt::format("{}: {}, {}, {}, compute capability {}\n", gpu.short_name, gpu.cuda_name,
                                 gpu.architecture, gpu.form_factor, compute_capability(gpu));
  head += form_factor_note(gpu);
  if (!gpu.note.empty()) head += fmt::format("note: {}\n", gpu.note);
  return head + "\n" + table.text() + "\n" + footnotes.text();
}

void write_quantity(JsonWriter& json, std::string_view name, const Quantity& quantity) {
  json.begin_object(name);
  json.number_field("value", quantity.value);
  json.number_field("low", quantity.low);
  json.number_field("high", quantity.high);
  if (!quantity.unit.empty()) json.field("unit", quantity.unit);
  json.field("known_by", quantity.known_by);
  json.field("source", quantity.source);
  if (!quantity.note.empty()) json.field("note", quantity.note);
  json.end_object();
}

void write_gpu(JsonWriter& json, const Gpu& gpu) {
  json.begin_object();
  json.field("short_name", gpu.short_name);
  json.field("name", gpu.cuda_name);
  json.field("architecture", gpu.architecture);
  json.field("compute_capability", compute_capability(gpu));
  json.field("form_factor", gpu.form_factor);
  json.field("form_factor_assumed", gpu.sxm_by_default());
  if (!gpu.note.empty()) json.field("note", gpu.note);
  json.field("capacity_bytes", gpu.capacity_bytes());
  json.begin_object("quantities");
  for (const auto& [fact, quantity] : gpu.known) {
    write_quantity(json, facts()[static_cast<std::size_t>(fact)].name, quantity);
  }
  json.end_object();
  json.end_object();
}

std::string json_text(std::span<const Gpu> selected) {
  JsonWriter json;
  json.begin_result("gpus");
  json.begin_array("gpus");
  for (const Gpu& gpu : selected) write_gpu(json, gpu);
  json.end_array();
  json.end_object();
  return json.text();
}

Result<ExitCode> run_gpus(const Arguments& arguments) {
  const bool json = arguments.given("json");
  const auto done = [] { return ExitCode::yes; };
  if (arguments.positionals.empty()) return print_result(json ? json_text(gpus()) : list_text()).map(done);
  return find_gpu(arguments.positionals.front()).and_then([&](const Gpu* gpu) {
    return print_result(json ? json_text({gpu, 1}) : detail_text(*gpu)).map(done);
  });
}

constexpr Flag flags[] = {json_flag};

}  // namespace

const Command gpus_command{"gpus",
                           "list the known GPUs, or show one with every number's source",
                           "[NAME] [--json]",
                           "NAME is a short name such as a100-40gb, or the name that CUDA shows. A short name without "
                           "a form factor means the SXM\n"
                           "form where there is one.",
                           {flags, 1, false},
                           run_gpus};

}  // namespace ullage::cli
