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
  explicit Rest(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) left_.emplace(setting.key, &setting);
  }
  /// The value of a setting that has one.
  std::string take(const char* name, std::string fallback) {
    const auto found = left_.find(name);
    if (found == left_.end()) return fallback;
    const Setting& setting = *found->second;
    left_.erase(found);
    return setting.values.size() == 1 && !setting.nested ? setting.values.front() : fallback;
  }
  [[nodiscard]] const std::map<std::string, const Setting*>& left() const { return left_; }

 private:
  std::map<std::string, const Setting*> left_;
};

/// transformers.training_args.OptimizerNames.
constexpr std::pair<std::string_view, std::string_view> optimizers[] = {
    {"adamw_torch", "adamw"},   {"adamw_torch_fused", "adamw-fused"}, {"sgd", "sgd"},
    {"adafactor", "adafactor"}, {"adamw_8bit", "adamw-8bit"},         {"adamw_bnb_8bit", "adamw-8bit"}};

/// Settings that change what a step needs or how long it takes; a plan does not know them.
constexpr std::array<std::string_view, 13> effective{"auto_find_batch_size",
                                                     "bf16_full_eval",
                                                     "deepspeed",
                                                     "eval_strategy",
                                                     "fsdp",
                                                     "fp16_full_eval",
                                                     "group_by_length",
                                                     "gradient_checkpointing_kwargs",
                                                     "label_smoothing_factor",
                                                     "max_grad_norm",
                                                     "neftune_noise_alpha",
                                                     "torch_compile",
                                                     "use_liger_kernel"};

bool is_off(const Setting& setting) {
  constexpr std::array<std::string_view, 7> off{"false", "no", "none", "None", "0", "0.0", ""};
  if (setting.nested) return false;
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

std::string precision_of(Rest& rest) {
  const bool bf16 = rest.take("bf16", "false") == "true", fp16 = rest.take("fp16", "false") == "true";
  const bool tf32 = rest.take("tf32", "false") == "true";
  return bf16 ? "bf16-autocast" : fp16 ? "fp16-autocast" : tf32 ? "tf32" : "fp32";
}

Result<std::string> optimizer_of(Rest& rest, const std::string& path) {
  const std::string name = rest.take("optim", "adamw_torch_fused");
  const auto found = std::ranges::find(optimizers, name, &std::pair<std::string_view, std::string_view>::first);
  if (found != std::end(optimizers)) return std::string(found->second);
  std::vector<std::string> known;
  for (const auto& [theirs, ours] : optimizers) known.emplace_back(theirs);
  return fail(ErrorKind::bad_input, fmt::format("optim: no plan of '{}'", printable(name, false)), path,
              "one of " + join(known, ", "), "--optimizer says which to plan instead");
}

}  // namespace

bool is_training_arguments(const std::vector<Setting>& settings) {
  return std::ranges::any_of(settings, [](const Setting& setting) {
    return setting.key == "per_device_train_batch_size" || setting.key == "gradient_accumulation_steps" ||
           setting.key == "output_dir";
  });
}

Result<std::vector<Setting>> from_training_arguments(const std::vector<Setting>& settings, RunFileUse& use) {
  Rest rest(settings);
  std::vector<Setting> made;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) made.push_back({name, {std::move(value)}, false, 1});
  };
  auto optimizer = optimizer_of(rest, use.path);
  if (!optimizer) return tl::unexpected(optimizer.error());
  add("optimizer", std::move(*optimizer));
  add("precision", precision_of(rest));
  add("micro-batch", rest.take("per_device_train_batch_size", "8"));
  add("accumulate", rest.take("gradient_accumulation_steps", "1"));
  add("checkpoint", rest.take("gradient_checkpointing", "false") == "true" ? "full" : "none");
  add("model", rest.take("model_name_or_path", ""));
  for (const char* length : {"max_length", "max_seq_length", "block_size"})
    if (std::string value = rest.take(length, "");
        !value.empty() && std::ranges::find(made, "seq", &Setting::key) == made.end())
      add("seq", std::move(value));
  note_rest(rest, use);
  return made;
}

}  // namespace ullage::cli
