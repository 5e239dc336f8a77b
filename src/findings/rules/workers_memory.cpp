// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <limits>

#include "base/bytes.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

constexpr double waiting_share = 0.2;

struct Waiting {
  std::uint64_t batches = 0;
  std::uint64_t each = 0;  ///< bytes, as they are held
  [[nodiscard]] std::uint64_t bytes() const {
    const bool fits = each == 0 || batches <= std::numeric_limits<std::uint64_t>::max() / 4 / each;
    return fits ? batches * each : std::numeric_limits<std::uint64_t>::max() / 4;
  }
};

/// PyTorch takes pinned memory in blocks of powers of two.
std::uint64_t held(const attribution::Loader& loader) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  return loader.pin_memory && loader.batch_bytes < most ? std::bit_ceil(loader.batch_bytes) : loader.batch_bytes;
}

Waiting waiting_in(const attribution::Loader& loader) {
  constexpr std::uint64_t most = 1 << 20;  // of a number that a file states
  return {std::min(loader.workers, most) * std::min(loader.prefetch_factor, most), held(loader)};
}

const attribution::Loader* largest(const RunSteps& steps) {
  const attribution::Loader* found = nullptr;
  for (const auto& loader : steps.loaders) {
    if (found == nullptr || waiting_in(loader).bytes() > waiting_in(*found).bytes()) found = &loader;
  }
  return found;
}

std::vector<Finding> find_workers_memory_in_steps(const Rule& rule, const RunSteps& steps) {
  const auto* loader = largest(steps);
  if (loader == nullptr || loader->host_capacity_bytes == 0) return {};
  const Waiting waiting = waiting_in(*loader);
  const std::uint64_t needed = steps.host_bytes + waiting.bytes();
  const bool matters = static_cast<double>(waiting.bytes()) >= waiting_share * static_cast<double>(needed);
  if (needed <= loader->host_capacity_bytes || !matters) return {};
  Finding finding = finding_of(rule, waiting.bytes(),
                               fmt::format("{} workers' batches {}do not fit into the host's memory", loader->workers,
                                           loader->pin_memory ? "in pinned memory " : ""));
  finding.bytes_are = "of host memory";
  finding.evidence = {
      fmt::format("num_workers={} x prefetch_factor={} batches of {}{}", loader->workers, loader->prefetch_factor,
                  format_bytes(loader->batch_bytes),
                  loader->pin_memory ? ", pinned in blocks of " + format_bytes(waiting.each) : std::string()),
      fmt::format("{} beside them in the run's processes; the host has {}", format_bytes(steps.host_bytes),
                  format_bytes(loader->host_capacity_bytes))};
  return {finding};
}

}  // namespace

const Rule workers_memory{
    "workers_memory",
    FindingLevel::problem,
    "batches that wait for the training do not fit into the host's memory",
    "Each worker of a DataLoader makes prefetch_factor batches ahead: num_workers x prefetch_factor of the largest "
    "batch "
    "that was seen, with pin_memory=True in PyTorch's blocks of powers of two, which never go back to the system. It "
    "speaks "
    "when these and what the run's processes held beside them are more than the host has (--host-memory of a "
    "rehearsal, "
    "else the container's or the machine's), and they are a fifth of it. The bytes are those of the batches that wait: "
    "the "
    "most that there can be.",
    "DataLoader(images, batch_size=512, num_workers=32, prefetch_factor=8, pin_memory=True)",
    "a smaller prefetch_factor or fewer workers; smaller batches in the workers (uint8 images, converted on the GPU)",
    nullptr,
    find_workers_memory_in_steps};

}  // namespace ullage::findings
