// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::report {
namespace {

constexpr std::size_t most_steps = 6;
constexpr std::size_t most_processes = 6;

std::string milliseconds(std::uint64_t ns) {
  return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
}

std::string capacity_text(const HostMemory& host) {
  return fmt::format("{} {}", format_bytes(host.capacity_bytes),
                     host.capacity_given ? "(--host-memory)" : "of this machine (--host-memory names another)");
}

std::string host_verdict(const HostMemory& host) {
  if (host.fits) return fmt::format("fits: about {}; {}\n", format_bytes(host.needed_bytes), capacity_text(host));
  return fmt::format("DOES NOT FIT: about {}, {} more than the {}\n", format_bytes(host.needed_bytes),
                     format_bytes(host.needed_bytes - host.capacity_bytes), capacity_text(host));
}

std::string host_table(const HostMemory& host) {
  Table table({{"line"}, {"bytes", Align::right}, {"known by"}});
  for (const auto& line : host.lines)
    if (line.bytes > 0) table.add({line.name, format_bytes(line.bytes), ledger::name_of(line.known_by)});
  return table.text();
}

std::string own_costs(const HostMemory& host) {
  return fmt::format(
      "seen here: {}, less what the virtual GPU takes itself: {} behind device memory (measured), {} for its records "
      "(estimated)\nnot included: host memory of NVIDIA's own driver and libraries\n",
      format_bytes(host.seen_bytes), format_bytes(host.device_pages_bytes), format_bytes(host.recording_bytes));
}

std::string processes_text(const HostMemory& host) {
  if (host.processes.size() < 2) return {};
  Table table({{"process"}, {"resident, at most", Align::right}, {"not shared", Align::right}});
  auto processes = host.processes;
  std::stable_sort(processes.begin(), processes.end(),
                   [](const auto& a, const auto& b) { return a.own_bytes > b.own_bytes; });
  const std::size_t shown = std::min(processes.size(), most_processes);
  for (std::size_t i = 0; i < shown; ++i)
    table.add({processes[i].name + (processes[i].script ? " (the script)" : ""),
               format_bytes(processes[i].resident_bytes), format_bytes(processes[i].own_bytes)});
  const std::size_t rest = processes.size() - shown;
  return table.text() + (rest > 0 ? fmt::format("and {} more: 'host' in run.json names all\n", rest) : "");
}

std::string pinned_text(const RunResult& r) {
  std::string text;
  if (r.pinned_peak_bytes > 0)
    text += fmt::format("pinned: {} at the end, at most {}\n", format_bytes(r.pinned_bytes),
                        format_bytes(r.pinned_peak_bytes));
  if (r.pinning.taken_bytes > r.pinning.requested_bytes)
    text += fmt::format("pin_memory: {} times, {} asked for, {} taken (PyTorch rounds to powers of two)\n",
                        r.pinning.times, format_bytes(r.pinning.requested_bytes), format_bytes(r.pinning.taken_bytes));
  if (r.managed_bytes > 0) text += fmt::format("managed memory: {}\n", format_bytes(r.managed_bytes));
  return text;
}

void add_step(Table& table, const StepInput& input) {
  table.add({std::to_string(input.step), std::to_string(input.loads),
             input.loads > 0 ? milliseconds(input.median_load_ns) : "",
             fmt::format("{} x, {}", input.pageable_copies, format_bytes(input.pageable_bytes)),
             fmt::format("{} x, {}", input.pinned_copies, format_bytes(input.pinned_bytes)),
             std::to_string(input.waited), milliseconds(input.simulated_ns)});
}

}  // namespace

std::string host_section(const RunResult& r) {
  std::string text = pinned_text(r);
  if (r.host_memory) {
    const HostMemory& host = *r.host_memory;
    text = host_verdict(host) + host_table(host) + own_costs(host) + processes_text(host) + text;
  }
  return text.empty() ? text : "\nHOST MEMORY\n" + text;
}

std::string inputs_section(const RunResult& r) {
  if (r.inputs.empty()) return {};
  Table table({{"step", Align::right},
               {"batches", Align::right},
               {"median wait", Align::right},
               {"pageable copies", Align::right},
               {"pinned copies", Align::right},
               {"waited for", Align::right},
               {"copy time", Align::right}});
  const std::size_t first = r.inputs.size() > most_steps ? r.inputs.size() - most_steps : 0;
  for (std::size_t i = first; i < r.inputs.size(); ++i) add_step(table, r.inputs[i]);
  return "\nINPUT (waits for a DataLoader: measured on this machine; copies from host to device, the first step's from "
         "its forward on; their time: simulated)\n" +
         table.text();
}

}  // namespace ullage::report
