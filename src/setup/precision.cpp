// SPDX-License-Identifier: Apache-2.0
#include "setup/precision.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <string>

namespace ullage::setup {
namespace {

constexpr std::string_view torch_source = "gradients and the states of torch.optim have the parameter's type";
constexpr std::string_view zero_source =
    "Rajbhandari et al. 2020 (ZeRO), section 3.1: 2 + 2 + 12 bytes; DeepSpeed runtime/zero";
constexpr std::string_view bf16_optimizer_source = "DeepSpeed runtime/bf16_optimizer.py";
constexpr std::string_view megatron_source = "Megatron-LM, documentation of the distributed optimizer";

constexpr Precision table[] = {
    {"fp32", Framework::pytorch, "fp32", 4, 4, 0, 0, 4, "fp32 throughout", torch_source},
    {"tf32", Framework::pytorch, "fp32", 4, 4, 0, 0, 4, "fp32 throughout; matrix products in tf32", torch_source},
    {"bf16-autocast", Framework::pytorch, "fp32", 4, 4, 0, 0, 4,
     "fp32 weights, gradients and optimizer state; torch.autocast makes bf16 copies while it computes", torch_source},
    {"fp16-autocast", Framework::pytorch, "fp32", 4, 4, 0, 0, 4,
     "fp32 weights, gradients and optimizer state; torch.autocast makes fp16 copies while it computes", torch_source},
    {"bf16", Framework::pytorch, "bf16", 2, 2, 0, 0, 2, "bf16 weights, gradients and optimizer state", torch_source},
    {"bf16-master", Framework::deepspeed, "bf16", 2, 2, 4, 0, 4,
     "bf16 weights and gradients; fp32 master copy and optimizer state", zero_source},
    {"fp16-master", Framework::deepspeed, "fp16", 2, 2, 4, 0, 4,
     "fp16 weights and gradients; fp32 master copy and optimizer state", zero_source},
    {"bf16-master-fp32-grad", Framework::megatron, "bf16", 2, 4, 4, 0, 4,
     "bf16 weights; fp32 gradients, master copy and optimizer state", megatron_source},
    {"fp16-master-fp32-grad", Framework::megatron, "fp16", 2, 4, 4, 0, 4,
     "fp16 weights; fp32 gradients, master copy and optimizer state", megatron_source},
    {"fp16-master", Framework::megatron, "fp16", 2, 2, 4, 4, 4,
     "fp16 weights and gradients; fp32 copies of both for the update; fp32 optimizer state", megatron_source},
    {"fp32", Framework::megatron, "fp32", 4, 4, 0, 0, 4, "fp32 throughout", megatron_source},
    {"bf16-master-fp32-grad", Framework::deepspeed, "bf16", 2, 4, 4, 0, 4,
     "bf16 weights; fp32 gradients, master copy and optimizer state", bf16_optimizer_source},
};

std::vector<std::string_view> frameworks() {
  return {name_of(Framework::pytorch), name_of(Framework::deepspeed), name_of(Framework::megatron)};
}

std::string joined(const std::vector<std::string_view>& names) {
  return join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

tl::unexpected<Error> not_there(std::string_view name, std::string_view framework) {
  std::vector<std::string_view> there;
  for (const Precision& precision : table)
    if (name_of(precision.framework) == framework) there.push_back(precision.name);
  return fail(ErrorKind::usage, "this framework does not keep its states that way",
              "--framework " + std::string(framework) + " --precision " + std::string(name), joined(there));
}

tl::unexpected<Error> unknown(std::string_view flag, std::string_view name,
                              const std::vector<std::string_view>& known) {
  return fail(ErrorKind::usage, "unknown value '" + std::string(name) + "'", std::string(flag), joined(known),
              suggestion(name, known));
}

}  // namespace

std::string_view name_of(Framework framework) {
  switch (framework) {
    case Framework::pytorch:
      return "pytorch";
    case Framework::deepspeed:
      return "deepspeed";
    case Framework::megatron:
      return "megatron";
  }
  return "";
}

std::span<const Precision> precisions() {
  return table;
}

std::vector<std::string_view> precision_names() {
  std::vector<std::string_view> names;
  for (const Precision& precision : table)
    if (std::ranges::find(names, precision.name) == names.end()) names.push_back(precision.name);
  return names;
}

Result<const Precision*> find_precision(std::string_view name, std::string_view framework) {
  const auto known = frameworks();
  if (!framework.empty() && std::ranges::find(known, framework) == known.end())
    return unknown("--framework", framework, known);
  bool named = false;
  for (const Precision& precision : table) {
    if (precision.name != name) continue;
    named = true;
    if (framework.empty() || name_of(precision.framework) == framework) return &precision;
  }
  if (named) return not_there(name, framework);
  return unknown("--precision", name, precision_names());
}

}  // namespace ullage::setup
