// SPDX-License-Identifier: Apache-2.0
#include "findings/every_step.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

// GradScaler must know whether a gradient is infinite before it lets the optimizer step.
bool needed(const std::string& line) {
  return line.ends_with(" (GradScaler)");
}

std::vector<Finding> find_synchronisation(const Rule& rule, const Subject& subject) {
  std::vector<Finding> result;
  for (const EveryStep& line : in_every_step(subject)) {
    if (line.waits == 0 || needed(line.line)) continue;
    result.push_back(finding_of(rule, line.down_bytes,
                                "the host waits for the device " + std::to_string(line.waits) +
                                    (line.waits == 1 ? " time" : " times") + " in every step",
                                {line.line, {}}));
    result.back().bytes_are = "read in every step";
  }
  return result;
}

}  // namespace

const Rule synchronisation{
    "synchronisation",
    FindingLevel::opportunity,
    "a synchronisation in every step",
    "A line of code makes the host wait for the device in each of the last two steps: .item(), .cpu(), print of a "
    "tensor, "
    "a condition on one, torch.cuda.synchronize(). Until it is done no further kernel is launched. What a GradScaler "
    "must read is left out.",
    "running += loss.item()                    # in every step",
    "add up on the device (loss.detach()) and read every hundred steps",
    find_synchronisation};

}  // namespace ullage::findings
