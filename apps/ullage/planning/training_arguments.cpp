// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/training_arguments.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace ullage::cli {
namespace {

using ingest::Setting;

/// Settings by name; what is taken is no longer among them.
class Rest {
 public:
  Rest(const std::vector<Setting>& settings, const std::string& path) : path_(path) {
    for (const Setting& setting : settings) left_.emplace(setting.key, &setting);
  }

  /// The value of a setting; `fallback` where it is missing or null.
  Result<std::string> text(const char* name, std::string fallback) {
    line_ = 0;
    const auto found = left_.find(name);
    if (found == left_.end()) return fallback;
    const Setting& setting = *found->second;
    left_.erase(found);
    line_ = setting.line;
    if (setting.nested || setting.is_list) return wrong(setting, "one value");
    return setting.values.empty() ? fallback : setting.values.front();
  }

  /// False where it is missing or null.
  Result<bool> flag(const char* name) {
    const auto found = left_.find(name);
    const Setting* setting = found == left_.end() ? nullptr : found->second;
    return text(name, "false").and_then([&](const std::string& value) -> Result<bool> {
      if (const auto truth = ingest::truth_of(value)) return *truth;
      return wrong(*setting, "true or false");
    });
  }

  void forget(const std::string& name) { left_.erase(name); }
  /// Of the setting that was read last; 0 where it is missing.
  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] const std::map<std::string, const Setting*>& left() const { return left_; }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const Setting& setting, const char* expected) const {
    return fail(ErrorKind::bad_input, fmt::format("{}: not a value of its kind", setting.key),
                fmt::format("{}, line {}", path_, setting.line), expected);
  }
  std::map<std::string, const Setting*> left_;
  const std::string& path_;
  std::size_t line_ = 0;
};

/// transformers.training_args.OptimizerNames. Its `sgd` has no momentum, which no plan has.
constexpr std::pair<std::string_view, std::string_view> optimizers[] = {{"adamw_torch", "adamw"},
                                                                        {"adamw_torch_fused", "adamw-fused"},
                                                                        {"adafactor", "adafactor"},
                                                                        {"adamw_8bit", "adamw-8bit"},
                                                                        {"adamw_bnb_8bit", "adamw-8bit"}};

/// Settings that change what a step needs or how long it takes; a plan does not know them.
constexpr std::array<std::string_view, 24> effective{"auto_find_batch_size",
                                                     "bf16_full_eval",
                                                     "deepspeed",
                                                     "do_eval",
                                                     "eval_strategy",
                                                     "fp16_full_eval",
                                                     "fsdp",
                                                     "fsdp_config",
                                                     "gradient_checkpointing_kwargs",
                                                     "group_by_length",
                                                     "label_smoothing_factor",
                                                     "load_in_4bit",
                                                     "load_in_8bit",
                                                     "max_grad_norm",
                                                     "neftune_noise_alpha",
                                                     "no_cuda",
                                                     "optim_args",
                                                     "optim_target_modules",
                                                     "torch_compile",
                                                     "torch_compile_backend",
                                                     "torch_compile_mode",
                                                     "torch_empty_cache_steps",
                                                     "use_cpu",
                                                     "use_liger_kernel"};

/// Lengths of a sequence as scripts and trainers beside transformers call them.
constexpr std::array<const char*, 3> lengths{"max_length", "max_seq_length", "block_size"};

bool is_off(const Setting& setting) {
  constexpr std::array<std::string_view, 6> off{"no", "none", "None", "0", "0.0", ""};
  if (setting.nested) return false;
  if (setting.values.size() == 1 && ingest::truth_of(setting.values.front()) == false) return true;
  return setting.values.empty() ||
         (setting.values.size() == 1 && std::ranges::find(off, setting.values.front()) != off.end());
}

void note_rest(const Rest& rest, RunFileUse& use) {
  for (const auto& [name, setting] : rest.left()) {
    if (is_off(*setting)) continue;
    const bool matters = std::ranges::find(effective, name) != effective.end();
    (matters ? use.unplanned : use.ignored).push_back(printable(name, false));
  }
}

Result<std::string> precision_of(Rest& rest, const std::string& path) {
  std::string precision = "fp32";
  bool half = false;
  for (const auto& [name, meant] : {std::pair("tf32", "tf32"), {"fp16", "fp16-autocast"}, {"bf16", "bf16-autocast"}}) {
    const auto given = rest.flag(name);
    if (!given) return tl::unexpected(given.error());
    const bool autocast = *given && name != std::string_view("tf32");
    if (autocast && half)
      return fail(ErrorKind::bad_input, "fp16 and bf16 are both true", path, "at most one, as transformers has it",
                  "--precision says which to plan instead");
    half = half || autocast;
    if (*given) precision = meant;
  }
  return precision;
}

Result<std::string> optimizer_of(Rest& rest, const std::string& path) {
  const auto name = rest.text("optim", "adamw_torch_fused");
  if (!name) return name;
  const auto found = std::ranges::find(optimizers, *name, &std::pair<std::string_view, std::string_view>::first);
  if (found != std::end(optimizers)) return std::string(found->second);
  std::vector<std::string> known;
  for (const auto& [theirs, ours] : optimizers) known.emplace_back(theirs);
  return fail(ErrorKind::bad_input, fmt::format("optim: no plan of '{}'", printable(*name, false)), path,
              "one of " + join(known, ", "), "--optimizer says which to plan instead");
}

/// The settings that are made, or the first mistake.
class Made {
 public:
  void add(const char* name, const Result<std::string>& value, std::size_t line) {
    if (!value && !error_) error_ = value.error();
    if (value && !value->empty()) settings_.push_back({name, {*value}, false, false, line});
  }
  void add(const Setting& setting) { settings_.push_back(setting); }
  [[nodiscard]] bool has(const char* name) const {
    return std::ranges::find(settings_, name, &Setting::key) != settings_.end();
  }
  Result<std::vector<Setting>> finish() && {
    if (error_) return tl::unexpected(*error_);
    return std::move(settings_);
  }

 private:
  std::vector<Setting> settings_;
  std::optional<Error> error_;
};

/// Takes out what is a flag of a plan by its name.
void keep_flags(const std::vector<Setting>& settings, const Shape& shape, Rest& rest, Made& made) {
  for (const Setting& setting : settings) {
    const Flag* flag = flag_of(shape, setting.key);
    if (flag == nullptr && setting.key != "model") continue;
    made.add({flag != nullptr ? std::string(flag->name) : setting.key, setting.values, setting.is_list, setting.nested,
              setting.line});
    rest.forget(setting.key);
  }
}

}  // namespace

bool is_training_arguments(const std::vector<Setting>& settings) {
  return std::ranges::any_of(settings, [](const Setting& setting) {
    return setting.key == "per_device_train_batch_size" || setting.key == "gradient_accumulation_steps" ||
           setting.key == "output_dir";
  });
}

Result<std::vector<Setting>> from_training_arguments(const std::vector<Setting>& settings, const Shape& shape,
                                                     const Arguments& arguments, RunFileUse& use) {
  Rest rest(settings, use.path);
  Made made;
  keep_flags(settings, shape, rest, made);
  const auto add = [&](const char* name, bool wanted, const Result<std::string>& value) {
    if (wanted && !made.has(name) && !arguments.given(name)) made.add(name, value, rest.line());
  };
  for (const char* length : lengths) add("seq", true, rest.text(length, ""));
  const bool trains = arguments.text("mode") != "infer";
  const bool step = arguments.given("seq") || arguments.given("fit") || made.has("seq") || made.has("fit");
  add("model", true, rest.text("model_name_or_path", ""));
  add("precision", true, precision_of(rest, use.path));
  add("optimizer", trains, optimizer_of(rest, use.path));
  add("micro-batch", step, rest.text("per_device_train_batch_size", "8"));
  add("accumulate", step && trains, rest.text("gradient_accumulation_steps", "1"));
  add("checkpoint", step && trains,
      rest.flag("gradient_checkpointing").map([](bool on) { return std::string(on ? "full" : "none"); }));
  note_rest(rest, use);
  return std::move(made).finish();
}

}  // namespace ullage::cli
