// SPDX-License-Identifier: Apache-2.0
// Reading a user's own GPUs: JSON in the shape of `ullage gpus NAME --json`, comments allowed.
#include "apps/ullage/hardware/own_gpus.hpp"
#include "apps/ullage/hardware/quantity_text.hpp"
#include "base/text.hpp"
#include "hardware/rates.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace ullage::cli {
namespace {

using Json = rapidjson::Value;

constexpr std::size_t most_gpus = 1000;
constexpr unsigned parse_flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                                 rapidjson::kParseCommentsFlag | rapidjson::kParseTrailingCommasFlag;

/// Without these no device can be imitated; what the file leaves out is that of the most alike GPU.
constexpr std::array assumable{Fact::threads_per_sm,   Fact::blocks_per_sm,
                               Fact::registers_per_sm, Fact::shared_optin_per_block,
                               Fact::shared_per_sm,    Fact::l2,
                               Fact::sm_clock,         Fact::memory_clock,
                               Fact::memory_bus,       Fact::context_cuda11,
                               Fact::context_cuda12,   Fact::context_cuda13};
constexpr std::array contexts{Fact::context_cuda11, Fact::context_cuda12, Fact::context_cuda13};

std::string_view text_of(const Json& value) {
  return {value.GetString(), value.GetStringLength()};
}

const FactInfo& info_of(Fact fact) {
  return facts()[static_cast<std::size_t>(fact)];
}

/// What to say of a wrong field; `where` is completed on the way out.
tl::unexpected<Error> wrong(std::string field, std::string what, std::string expected, std::string hint = {}) {
  return fail(ErrorKind::bad_input, std::move(what), std::move(field), std::move(expected), std::move(hint));
}

/// Refuses fields that are there twice or that nobody knows.
Result<void> check_fields(const Json& object, std::string_view prefix, std::span<const std::string_view> known) {
  std::set<std::string, std::less<>> seen;
  for (const auto& member : object.GetObject()) {
    const std::string name(text_of(member.name));
    if (std::ranges::find(known, name) == known.end())
      return wrong(std::string(prefix) + name, "unknown field",
                   "one of " + join(std::vector<std::string>(known.begin(), known.end()), ", "),
                   suggestion(name, known));
    if (!seen.insert(name).second) return wrong(std::string(prefix) + name, "the field is there twice", "one of them");
  }
  return {};
}

const Json* member(const Json& object, const char* name) {
  const auto found = object.FindMember(name);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

Result<std::string> read_text(const Json& object, const char* name, std::string fallback,
                              const std::string& prefix = {}) {
  const Json* value = member(object, name);
  if (value == nullptr) return fallback;
  constexpr std::size_t longest = 2000;
  const bool good = value->IsString() && !text_of(*value).empty() && text_of(*value).size() <= longest &&
                    std::ranges::none_of(text_of(*value), [](char c) { return c >= 0 && c < ' '; });
  if (!good) return wrong(prefix + name, "not a text for this", "one line of at most 2000 characters");
  return std::string(text_of(*value));
}

Result<std::string> read_short_name(const Json& object) {
  const Json* value = member(object, "short_name");
  if (value == nullptr)
    return wrong("short_name", "the field is missing", "the name that --gpu takes, such as my-card");
  const std::string name(value->IsString() ? text_of(*value) : "");
  const bool good = !name.empty() && name.size() <= 60 && name != "all" &&
                    name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == name.npos;
  if (!good) return wrong("short_name", "not a short name", "small letters, digits and '-', such as my-card");
  for (const Gpu& gpu : gpus())
    if (gpu.short_name == name || std::ranges::find(gpu.aliases, name) != gpu.aliases.end())
      return wrong("short_name", "'" + name + "' is in the catalogue", "another name, such as my-" + name);
  return name;
}

struct Capability {
  int major, minor;
};

Result<Capability> read_capability(const Json& object) {
  const Json* value = member(object, "compute_capability");
  if (value == nullptr) return wrong("compute_capability", "the field is missing", "a text such as \"8.9\"");
  const std::string text = value->IsString()   ? std::string(text_of(*value))
                           : value->IsNumber() ? fmt::format("{:.1f}", value->GetDouble())
                                               : "";
  Capability capability{0, 0};
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, capability.major);
  const bool dot = major.ec == std::errc{} && major.ptr != end && *major.ptr == '.';
  const auto minor = dot ? std::from_chars(major.ptr + 1, end, capability.minor) : major;
  if (!dot || minor.ec != std::errc{} || minor.ptr != end || capability.minor < 0 || capability.minor > 9)
    return wrong("compute_capability", "not a compute capability", "a text such as \"8.9\"");
  if (most_alike(capability.major, capability.minor, 1) == nullptr)
    return wrong("compute_capability", "no GPU of the catalogue is like this one",
                 "a major version that it has: 7, 8, 9, 10, 12");
  return capability;
}

constexpr std::array<std::string_view, 9> quantity_fields{"value",  "low",      "high",   "unit", "dense",
                                                          "sparse", "known_by", "source", "note"};

/// One quantity of one GPU, on its way into the file's GPUs.
class QuantityReader {
 public:
  QuantityReader(OwnGpus& own, const FactInfo& fact, std::string field, std::string_view file)
      : own_(own), fact_(fact), field_(std::move(field)), file_(file) {}

  Result<Quantity> read(const Json& json) {
    if (json.IsObject()) return read_object(json);
    return number(json, field_, 1).and_then([&](double value) {
      return finished({value, value, value, fact_.unit, "given", own_.keep(std::string(file_)), ""});
    });
  }

 private:
  Result<double> number(const Json& json, const std::string& field, double factor) const {
    if (json.IsNumber()) return json.GetDouble() * factor;
    if (!json.IsString()) return wrong(field, "not a quantity", unit_names(fact_) + ", or an object with a value");
    return parse_quantity(fact_, text_of(json)).map_error([&](Error error) {
      error.where = field;
      return error;
    });
  }

  Result<double> part(const Json& json, const char* name, double fallback, double factor) const {
    const Json* value = member(json, name);
    return value != nullptr ? number(*value, field_ + "." + name, factor) : Result<double>(fallback);
  }

  Result<double> factor_of(const Json& json) const {
    const auto unit = read_text(json, "unit", std::string(fact_.unit), field_ + ".");
    const auto factor = unit ? unit_factor(fact_, *unit) : std::nullopt;
    if (!factor) return wrong(field_ + ".unit", "not a unit of this quantity", unit_names(fact_));
    return *factor;
  }

  /// Whether a figure counts what sparsity lets the units skip.
  Result<bool> sparse(const Json& json) const {
    bool is = false;
    for (const auto& [name, when] : {std::pair("sparse", true), std::pair("dense", false)}) {
      const Json* value = member(json, name);
      if (value == nullptr) continue;
      if (!value->IsBool() || fact_.unit != "FLOP/s")
        return wrong(field_ + "." + name, "not applicable here", "true or false, of a rate in FLOP/s");
      is = is || value->GetBool() == when;
    }
    return is;
  }

  Result<std::string_view> known_by(const Json& json) const {
    const auto word = read_text(json, "known_by", "given", field_ + ".");
    for (const std::string_view known : {"given", "measured", "published", "estimated", "assumed"})
      if (word && *word == known) return known;
    return wrong(field_ + ".known_by", "unknown value", "given, measured, published, estimated or assumed");
  }

  Result<Quantity> read_object(const Json& json) {
    if (const auto checked = check_fields(json, field_ + ".", quantity_fields); !checked)
      return tl::unexpected(checked.error());
    if (member(json, "value") == nullptr) return wrong(field_ + ".value", "the field is missing", unit_names(fact_));
    const auto factor = factor_of(json);
    if (!factor) return tl::unexpected(factor.error());
    const auto value = part(json, "value", 0, *factor);
    if (!value) return tl::unexpected(value.error());
    const auto low = part(json, "low", *value, *factor), high = part(json, "high", *value, *factor);
    const auto halved = sparse(json);
    const auto known = known_by(json);
    const auto source = read_text(json, "source", std::string(file_), field_ + "."),
               note = read_text(json, "note", "", field_ + ".");
    for (const Error* error :
         {low ? nullptr : &low.error(), high ? nullptr : &high.error(), halved ? nullptr : &halved.error(),
          known ? nullptr : &known.error(), source ? nullptr : &source.error(), note ? nullptr : &note.error()})
      if (error != nullptr) return tl::unexpected(*error);
    const double share = *halved ? 0.5 : 1;
    const std::string remark = *halved ? "half of the figure with sparsity" : *note;
    return finished(
        {*value * share, *low * share, *high * share, fact_.unit, *known, own_.keep(*source), own_.keep(remark)});
  }

  Result<Quantity> finished(Quantity quantity) const {
    const bool whole = fact_.unit == "B" || fact_.unit.empty();
    for (double* number : {&quantity.value, &quantity.low, &quantity.high}) {
      if (whole) *number = std::round(*number);
      if (auto checked = check_plausible(fact_, *number); !checked) {
        checked.error().where = field_;
        return tl::unexpected(checked.error());
      }
    }
    if (quantity.low > quantity.value || quantity.value > quantity.high)
      return wrong(field_, "the range does not hold the value", "low <= value <= high");
    return quantity;
  }

  OwnGpus& own_;
  const FactInfo& fact_;
  std::string field_;
  std::string_view file_;
};

/// One GPU of the file.
class GpuReader {
 public:
  GpuReader(OwnGpus& own, const Json& json, std::string_view file) : own_(own), json_(json), file_(file) {}

  Result<void> read() {
    return check_fields(json_, "", fields)
        .and_then([&] { return read_names(); })
        .and_then([&] { return read_quantities(); })
        .and_then([&] { return check_capacity_field(); })
        .and_then([&] { return take_assumed(); })
        .and_then([&] { return check_together(); })
        .map([&] { own_.add(gpu_, known_); });
  }

 private:
  static constexpr std::array<std::string_view, 12> fields{
      "short_name", "name", "compute_capability", "architecture",   "form_factor",         "host_link",
      "gpu_link",   "note", "quantities",         "capacity_bytes", "form_factor_assumed", "absent"};

  Result<void> read_names() {
    const auto name = read_short_name(json_);
    if (!name) return tl::unexpected(name.error());
    for (const Gpu& other : own_.gpus())
      if (other.short_name == *name) return wrong("short_name", "two GPUs have this name", "a name of its own");
    const auto capability = read_capability(json_);
    if (!capability) return tl::unexpected(capability.error());
    gpu_.short_name = own_.keep(*name);
    gpu_.cc_major = capability->major;
    gpu_.cc_minor = capability->minor;
    return read_texts(*name);
  }

  Result<void> read_texts(const std::string& short_name) {
    const std::pair<const char*, std::string_view*> texts[] = {
        {"name", &gpu_.cuda_name},      {"architecture", &gpu_.architecture}, {"form_factor", &gpu_.form_factor},
        {"host_link", &gpu_.host_link}, {"gpu_link", &gpu_.gpu_link},         {"note", &gpu_.note}};
    for (const auto& [field, target] : texts) {
      const auto text = read_text(json_, field, "");
      if (!text) return tl::unexpected(text.error());
      *target = own_.keep(*text);
    }
    if (gpu_.cuda_name.empty()) gpu_.cuda_name = own_.keep(short_name);
    // A device profile separates its fields by ';', and CUDA keeps 256 bytes.
    if (gpu_.cuda_name.find(';') != std::string_view::npos || gpu_.cuda_name.size() > 200)
      return wrong("name", "not the name of a device", "at most 200 characters, without ';'");
    const std::string_view form = gpu_.form_factor;
    if (form.empty() || form == "SXM" || form == "PCIe" || form == "superchip") return {};
    return wrong("form_factor", "unknown form factor", "SXM, PCIe or superchip");
  }

  Result<void> read_quantities() {
    const Json* quantities = member(json_, "quantities");
    if (quantities == nullptr || !quantities->IsObject())
      return wrong("quantities", quantities ? "not an object" : "the field is missing",
                   "an object with at least sm_count and capacity");
    std::vector<std::string_view> names{"context"};
    for (const FactInfo& fact : facts()) names.push_back(fact.name);
    if (const auto checked = check_fields(*quantities, "quantities.", names); !checked) return checked;
    for (const FactInfo& fact : facts())
      if (const auto done = read_quantity(*quantities, fact); !done) return done;
    if (find(Fact::sm_count) == nullptr)
      return wrong("quantities.sm_count", "the field is missing", "the number of streaming multiprocessors");
    return {};
  }

  Result<void> read_quantity(const Json& quantities, const FactInfo& fact) {
    std::string name(fact.name);
    const Json* json = member(quantities, name.c_str());
    if (json == nullptr && std::ranges::find(contexts, fact.fact) != contexts.end())
      json = member(quantities, (name = "context").c_str());
    if (json == nullptr) return {};
    return QuantityReader(own_, fact, "quantities." + name, file_).read(*json).map([&](const Quantity& quantity) {
      known_.push_back({fact.fact, quantity});
    });
  }

  /// The memory may stand in capacity_bytes alone, where `ullage gpus --json` repeats it.
  Result<void> check_capacity_field() {
    const Json* json = member(json_, "capacity_bytes");
    const Quantity* capacity = find(Fact::capacity);
    if (json == nullptr && capacity == nullptr)
      return wrong("quantities.capacity", "the field is missing", "the memory that CUDA shows, such as \"23.5GiB\"");
    if (json == nullptr) return {};
    const auto read = QuantityReader(own_, info_of(Fact::capacity), "capacity_bytes", file_).read(*json);
    if (!read) return tl::unexpected(read.error());
    if (capacity == nullptr) known_.push_back({Fact::capacity, *read});
    if (capacity != nullptr && capacity->value != read->value)
      return wrong("capacity_bytes", "it differs from quantities.capacity", "one of the two, or the same");
    return {};
  }

  Result<void> take_assumed() {
    const Gpu& alike = *most_alike(gpu_.cc_major, gpu_.cc_minor, sm_count());
    for (const Fact fact : assumable) {
      const Quantity* theirs = alike.find(fact);
      if (find(fact) != nullptr || theirs == nullptr) continue;
      Quantity quantity = *theirs;
      quantity.known_by = "assumed";
      quantity.note = own_.keep(fmt::format("as of {}: {} does not say", alike.short_name, file_));
      known_.push_back({fact, quantity});
    }
    return {};
  }

  Result<void> check_together() {
    for (const Fact fact : contexts)
      if (find(fact)->value >= find(Fact::capacity)->value)
        return wrong("quantities.context", "the context is larger than the memory", "less than the capacity");
    // What each rate may be, in units of the fp16 rate of the matrix units.
    constexpr std::pair<Fact, double> shares[] = {
        {Fact::fp16_peak, 1}, {Fact::bf16_peak, 1}, {Fact::tf32_peak, 0.5}, {Fact::fp8_peak, 2}};
    constexpr double tolerance = 1.3;  // a figure with sparsity is 2
    const double limit =
        dense_limit(gpu_.cc_major, gpu_.cc_minor, static_cast<double>(sm_count()), find(Fact::sm_clock)->high);
    for (const auto& [fact, share] : shares) {
      const Quantity* rate = find(fact);
      if (rate == nullptr || rate->value <= tolerance * share * limit) continue;
      return wrong(
          fmt::format("quantities.{}", info_of(fact).name),
          fmt::format("{:.4g} TFLOP/s are more than these multiprocessors can do", rate->value / 1e12),
          fmt::format("a dense figure: about {:.4g} TFLOP/s at most", share * limit / 1e12),
          "a figure \"with sparsity\" is twice the dense one: {\"value\": ..., \"sparse\": true} takes half of it; "
          "if it is dense, sm_clock is missing or too low");
    }
    return {};
  }

  [[nodiscard]] const Quantity* find(Fact fact) const {
    const auto found = std::ranges::find(known_, fact, &KnownFact::fact);
    return found == known_.end() ? nullptr : &found->quantity;
  }
  [[nodiscard]] std::uint64_t sm_count() const { return static_cast<std::uint64_t>(find(Fact::sm_count)->value); }

  OwnGpus& own_;
  const Json& json_;
  std::string_view file_;
  Gpu gpu_{};
  std::vector<KnownFact> known_;
};

Result<void> read_one(OwnGpus& own, const Json& json, const std::string& where, std::string_view place) {
  const auto complete = [&](Error error) {
    error.where = where + ": " + std::string(place) + (place.empty() || error.where.empty() ? "" : ".") + error.where;
    return error;
  };
  if (!json.IsObject())
    return tl::unexpected(complete({ErrorKind::bad_input, "not an object", "", "a GPU: {...}", ""}));
  return GpuReader(own, json, where).read().map_error(complete);
}

Result<void> read_all(OwnGpus& own, const Json& document, const std::string& where) {
  const Json* list = document.IsObject() ? member(document, "gpus") : nullptr;
  if (list == nullptr) return read_one(own, document, where, "");
  constexpr std::array<std::string_view, 3> known{"schema_version", "command", "gpus"};
  if (auto checked = check_fields(document, "", known); !checked) {
    checked.error().where = where + ": " + checked.error().where;
    return checked;
  }
  if (!list->IsArray() || list->Empty() || list->Size() > most_gpus)
    return fail(ErrorKind::bad_input, "not a list of GPUs", where + ": gpus", "1 to 1000 of them: [{...}, ...]");
  for (rapidjson::SizeType i = 0; i < list->Size(); ++i)
    if (const auto done = read_one(own, (*list)[i], where, fmt::format("gpus[{}]", i)); !done) return done;
  return {};
}

}  // namespace

Result<OwnGpus> parse_gpu_file(std::string_view text, const std::string& where) {
  rapidjson::Document document;
  document.Parse<parse_flags>(text.data(), text.size());
  if (document.HasParseError())
    return fail(ErrorKind::bad_input, std::string("not JSON: ") + rapidjson::GetParseError_En(document.GetParseError()),
                fmt::format("{}, byte {}", where, document.GetErrorOffset()),
                "a GPU in the shape of 'ullage gpus a100-40gb --json'");
  OwnGpus own;
  return read_all(own, document, where).map([&] { return std::move(own); });
}

}  // namespace ullage::cli
