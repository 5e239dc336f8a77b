// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/hardware/here_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "inventory/match.hpp"
#include "report/json/json_writer.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace ullage::cli {
namespace {

using inventory::InstalledGpu;
using inventory::InstalledGpus;
using inventory::Match;

std::string capability_of(const InstalledGpu& gpu) {
  return gpu.compute_capability ? fmt::format("{}.{}", gpu.compute_capability->first, gpu.compute_capability->second)
                                : "";
}

std::string match_text(const Match& match) {
  if (match.gpu == nullptr) return "none like it";
  return match.exact ? std::string(match.gpu->short_name)
                     : fmt::format("nearest: {} ({})", match.gpu->short_name, match.difference);
}

std::string notes(const InstalledGpus& found) {
  std::string text;
  for (const InstalledGpu& gpu : found.gpus) {
    if (gpu.mig)
      text += fmt::format("GPU {} is cut into MIG instances: a process sees one of them, not this memory\n", gpu.index);
    if (!gpu.error.empty()) text += fmt::format("GPU {}: {}\n", gpu.index, gpu.error);
  }
  return text;
}

std::string gpus_text(const Result<InstalledGpus>& found) {
  if (!found) return fmt::format("no GPU can be seen: {}\n", describe(found.error()));
  std::string head = found->gpus.empty() ? "the driver knows no GPU" : "GPUs as the driver tells";
  if (!found->driver.empty()) head += fmt::format("; driver {}", found->driver);
  if (!found->cuda.empty()) head += fmt::format(", CUDA up to {}", found->cuda);
  if (found->gpus.empty()) return head + "\n";
  Table table({{"GPU", Align::right},
               {"name"},
               {"cc", Align::right},
               {"memory", Align::right},
               {"used", Align::right},
               {"in the catalogue"}});
  for (const InstalledGpu& gpu : found->gpus)
    table.add({std::to_string(gpu.index), gpu.name, capability_of(gpu), format_bytes(gpu.memory_bytes),
               format_bytes(gpu.used_bytes), match_text(inventory::match(gpu))});
  return head + "\n" + table.text() + notes(*found);
}

std::string processor_text(const inventory::Processor& processor) {
  std::string text = processor.model.empty() ? "model not told" : processor.model;
  if (processor.cores > 0) text += fmt::format(", {} cores", processor.cores);
  text += fmt::format(", {} threads", processor.threads);
  if (processor.usable_threads < static_cast<double>(processor.threads))
    text += fmt::format(", {:g} of them for this process", processor.usable_threads);
  return text;
}

std::string memory_text(const Result<inventory::HostMemory>& memory) {
  if (!memory) return describe(memory.error());
  std::string text = fmt::format("{} available of {}", format_bytes(memory->available_bytes),
                                 format_bytes(memory->limit_bytes.value_or(memory->total_bytes)));
  if (memory->limit_bytes)
    text += fmt::format(", the limit of the control group; the machine has {}", format_bytes(memory->total_bytes));
  return text;
}

std::string disk_text(const Result<inventory::Disk>& disk) {
  if (!disk) return describe(disk.error());
  return fmt::format("{} free of {} at {}", format_bytes(disk->free_bytes), format_bytes(disk->total_bytes),
                     disk->folder);
}

void write_match(JsonWriter& json, const Match& match) {
  if (match.gpu == nullptr) return;
  json.begin_object("catalogue");
  json.field("short_name", match.gpu->short_name);
  json.field("exact", match.exact);
  if (!match.difference.empty()) json.field("difference", match.difference);
  json.end_object();
}

void write_installed(JsonWriter& json, const InstalledGpu& gpu) {
  json.begin_object();
  json.field("index", gpu.index);
  if (!gpu.name.empty()) json.field("name", gpu.name);
  if (!gpu.uuid.empty()) json.field("uuid", gpu.uuid);
  if (gpu.compute_capability) json.field("compute_capability", capability_of(gpu));
  if (gpu.memory_bytes > 0) {
    json.field("memory_bytes", gpu.memory_bytes);
    json.field("used_bytes", gpu.used_bytes);
  }
  json.field("mig", gpu.mig);
  if (!gpu.error.empty()) json.field("error", gpu.error);
  write_match(json, inventory::match(gpu));
  json.end_object();
}

void write_driver(JsonWriter& json, const Result<InstalledGpus>& found) {
  json.begin_object("nvml");
  json.field("available", found.has_value());
  if (!found) json.field("reason", describe(found.error()));
  if (found && !found->driver.empty()) json.field("driver", found->driver);
  if (found && !found->cuda.empty()) json.field("cuda", found->cuda);
  json.end_object();
  json.begin_array("gpus");
  if (found)
    for (const InstalledGpu& gpu : found->gpus) write_installed(json, gpu);
  json.end_array();
}

void write_processor(JsonWriter& json, const inventory::Processor& processor) {
  json.begin_object("processor");
  if (!processor.model.empty()) json.field("model", processor.model);
  if (processor.cores > 0) json.field("cores", processor.cores);
  json.field("threads", processor.threads);
  json.number_field("usable_threads", processor.usable_threads);
  json.end_object();
}

void write_memory(JsonWriter& json, const Result<inventory::HostMemory>& memory) {
  if (!memory) return;
  json.begin_object("memory");
  json.field("total_bytes", memory->total_bytes);
  json.field("available_bytes", memory->available_bytes);
  if (memory->limit_bytes) json.field("limit_bytes", *memory->limit_bytes);
  json.end_object();
}

void write_disk(JsonWriter& json, const Result<inventory::Disk>& disk) {
  if (!disk) return;
  json.begin_object("disk");
  json.field("folder", disk->folder);
  json.field("total_bytes", disk->total_bytes);
  json.field("free_bytes", disk->free_bytes);
  json.end_object();
}

}  // namespace

Machine this_machine() {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  return {inventory::installed_gpus(), inventory::processor(), inventory::host_memory(),
          inventory::disk(folder.empty() ? "." : folder)};
}

std::string machine_text(const Machine& machine) {
  Table table({{""}, {""}});
  table.add({"processor", processor_text(machine.processor)});
  table.add({"memory", memory_text(machine.memory)});
  table.add({"disk", disk_text(machine.disk)});
  return gpus_text(machine.gpus) + "\n" + table.text();
}

std::string machine_json(const Machine& machine) {
  JsonWriter json;
  json.begin_result("gpus");
  write_driver(json, machine.gpus);
  write_processor(json, machine.processor);
  write_memory(json, machine.memory);
  write_disk(json, machine.disk);
  json.end_object();
  return json.text();
}

}  // namespace ullage::cli
