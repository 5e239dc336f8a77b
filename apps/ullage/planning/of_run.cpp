// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/of_run.hpp"

#include "apps/ullage/command.hpp"
#include "apps/ullage/planning/whole.hpp"
#include "model/families.hpp"
#include "store/json_text.hpp"
#include "store/json_value.hpp"

#include <algorithm>

namespace ullage::cli {
namespace {

using ingest::OptimizerFacts;
using ingest::RunFacts;
using ingest::SetupFacts;

/// A name of `--precision`; empty for another kind.
std::string precision_of(const SetupFacts& setup) {
  if (setup.dtypes.size() != 1) return {};
  const std::string& weights = setup.dtypes.front();
  if (weights == "bfloat16") return setup.autocast.empty() ? "bf16" : "";
  if (weights != "float32") return {};
  if (setup.autocast == "bfloat16") return "bf16-autocast";
  if (setup.autocast == "float16") return "fp16-autocast";
  return !setup.autocast.empty() ? "" : setup.tf32 ? "tf32" : "fp32";
}

/// A name of `--optimizer`; empty for another kind.
std::string optimizer_of(const OptimizerFacts& optimizer) {
  if (!optimizer.module.starts_with("torch.optim") || optimizer.amsgrad) return {};
  const bool foreach = optimizer.foreach.value_or(true), fused = optimizer.fused.value_or(false);
  if (optimizer.name == "AdamW") return fused ? "adamw-fused" : foreach ? "adamw" : "adamw-forloop";
  return optimizer.name == "SGD" && optimizer.momentum && foreach && !fused ? "sgd" : "";
}

std::uint32_t micro_batches_of(const RunFacts& facts) {
  std::uint32_t most = 1;
  for (const auto& mark : facts.marks) most = std::max(most, mark.micro_batch);
  return most;
}

bool keeps_gradients(const RunFacts& facts) {
  return std::ranges::any_of(facts.zero_grads, [](const auto& place) { return !place.set_to_none; });
}

}  // namespace

std::optional<InputShape> input_shape(const std::string& shapes) {
  const auto parsed = store::parse_object("{\"shapes\":" + (shapes.empty() ? "[]" : shapes) + "}", "shapes");
  if (!parsed) return std::nullopt;
  for (const store::Json& shape : store::items_of(store::at(&*parsed, "shapes"))) {
    const auto sizes = store::items_of(&shape);
    if (sizes.Size() == 2 && sizes[0].IsUint64() && sizes[1].IsUint64())
      return InputShape{sizes[0].GetUint64(), sizes[1].GetUint64()};
  }
  return std::nullopt;
}

std::vector<std::string> plan_flags_of(const RunFacts& facts, const Gpu& gpu, std::uint64_t capacity_bytes) {
  if (!facts.setup || !facts.optimizer) return {};
  const SetupFacts& setup = *facts.setup;
  const std::string precision = precision_of(setup), optimizer = optimizer_of(*facts.optimizer);
  const auto shape = input_shape(setup.shapes);
  if (precision.empty() || optimizer.empty() || !shape || setup.trained_parameters != setup.parameters) return {};
  if (setup.attention != "sdpa" && setup.attention != "eager") return {};
  std::vector<std::string> flags = {"--gpu",         std::string(gpu.short_name),
                                    "--micro-batch", std::to_string(shape->micro_batch),
                                    "--seq",         std::to_string(shape->sequence),
                                    "--precision",   precision,
                                    "--optimizer",   optimizer,
                                    "--attention",   setup.attention,
                                    "--checkpoint",  setup.checkpointing ? "full" : "none",
                                    "--accumulate",  std::to_string(micro_batches_of(facts))};
  if (keeps_gradients(facts)) flags.emplace_back("--keep-gradients");
  if (capacity_bytes != gpu.capacity_bytes()) flags.insert(flags.end(), {"--memory", std::to_string(capacity_bytes)});
  return flags;
}

std::shared_ptr<const report::PlanView> plan_of_run(const RunFacts& facts, const Gpu* gpu,
                                                    std::uint64_t capacity_bytes) {
  if (gpu == nullptr) return nullptr;
  const auto flags = plan_flags_of(facts, *gpu, capacity_bytes);
  if (flags.empty()) return nullptr;
  auto model = model::describe(facts.setup->config, "the run's model");
  if (!model || model::parameter_count(*model) != facts.setup->parameters) return nullptr;
  const std::string name = model->model_type + " of the run";
  std::vector<std::string_view> words = {name};
  words.insert(words.end(), flags.begin(), flags.end());
  const auto arguments = parse_arguments(plan_command.shape, words);
  if (!arguments) return nullptr;
  const auto options = plan_options(*arguments);
  if (!options) return nullptr;
  auto view =
      whole_plan(*arguments, *options,
                 {std::move(*model), "the run's own configuration", {facts.setup->config, "the run's model", {}}});
  return view ? std::make_shared<const report::PlanView>(std::move(*view)) : nullptr;
}

}  // namespace ullage::cli
