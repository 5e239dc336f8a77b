// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "findings/every_step.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

constexpr std::uint64_t least = 1 << 20;

std::vector<Finding> find_pageable_copies(const Rule& rule, const Subject& subject) {
  std::vector<Finding> result;
  for (const EveryStep& line : in_every_step(subject)) {
    if (line.pageable_bytes < least) continue;
    result.push_back(finding_of(rule, line.pageable_bytes,
                                format_bytes(line.pageable_bytes) + " are copied from pageable memory in every step",
                                {line.line, {}}));
    result.back().bytes_are = "in every step";
  }
  return result;
}

}  // namespace

const Rule pageable_copies{
    "pageable_copies",
    FindingLevel::opportunity,
    "pageable copies where pinned ones would overlap",
    "A line of code copies 1 MiB or more to the device in each of the last two steps, from pageable memory: the host "
    "waits until it is there, and nothing is computed meanwhile.",
    "images = images.to(\"cuda\")",
    "pin the memory (DataLoader(..., pin_memory=True), tensor.pin_memory()) and copy with .to(\"cuda\", "
    "non_blocking=True)",
    find_pageable_copies};

}  // namespace ullage::findings
