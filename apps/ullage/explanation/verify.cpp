// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/explanation/explanation.hpp"
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hardware/catalogue.hpp"

#include <fmt/format.h>

namespace ullage::cli {
namespace {

const report::StatedSize* capacity_of(const report::ExplainView& view) {
  for (const auto& size : view.sizes) {
    if (size.id == "device.capacity_bytes") return &size;
  }
  return nullptr;
}

// The card that shows this capacity; else the one that comes nearest, with the capacity said.
std::string card(const report::ExplainView& view) {
  const auto* capacity = capacity_of(view);
  if (capacity == nullptr) return "--gpu NAME";
  const Gpu* nearest = nullptr;
  const auto away = [&](const Gpu& gpu) {
    const std::uint64_t bytes = gpu.capacity_bytes();
    return bytes > capacity->bytes ? bytes - capacity->bytes : capacity->bytes - bytes;
  };
  for (const Gpu& gpu : gpus()) {
    if (gpu.capacity_bytes() >= capacity->low && gpu.capacity_bytes() <= capacity->high)
      return fmt::format("--gpu {}", gpu.short_name);
    if (nearest == nullptr || away(gpu) < away(*nearest)) nearest = &gpu;
  }
  return fmt::format("--gpu {} --memory {}", nearest->short_name, format_exact_bytes(capacity->bytes));
}

}  // namespace

std::string verifying_command(const Evidence& evidence, const ExplainOptions& options,
                              const report::ExplainView& view) {
  std::string text;
  if (!view.changes.empty() && view.changes[0].text.starts_with("PYTORCH_")) text += view.changes[0].text + " ";
  text += "ullage rehearse ";
  if (options.gpu) {
    text += "--gpu " + *options.gpu;
  } else if (evidence.gpu) {
    text += "--gpu " + std::string(evidence.gpu->short_name);
    if (evidence.capacity_bytes && *evidence.capacity_bytes != evidence.gpu->capacity_bytes())
      text += " --memory " + format_exact_bytes(*evidence.capacity_bytes);
  } else {
    text += card(view);
  }
  text += " --";
  if (evidence.run && evidence.run->facts.process && !evidence.run->facts.process->argv.empty()) {
    for (const auto& word : evidence.run->facts.process->argv) text += " " + shell_quoted(word);
    return text;
  }
  return text + " python YOUR_SCRIPT.py";
}

}  // namespace ullage::cli
