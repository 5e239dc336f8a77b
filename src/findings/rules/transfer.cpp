// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "findings/every_step.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

constexpr std::uint64_t least_again = 64 << 10;
constexpr std::uint64_t least_down = 1 << 20;

std::vector<Finding> find_transfer(const Rule& rule, const Subject& subject) {
  std::vector<Finding> result;
  for (const EveryStep& line : in_every_step(subject)) {
    if (line.repeated_bytes >= least_again)
      result.push_back(finding_of(rule, line.repeated_bytes, "the same bytes are copied to the device in every step",
                                  {line.line, {}}));
    else if (line.down_bytes >= least_down)
      result.push_back(finding_of(rule, line.down_bytes,
                                  format_bytes(line.down_bytes) + " are copied to the host in every step",
                                  {line.line, {}}));
    else
      continue;
    result.back().bytes_are = "in every step";
    if (line.repeated_bytes < least_again)
      result.back().next = "reduce on the device, and copy the result, or every hundredth step";
  }
  return result;
}

}  // namespace

const Rule transfer{
    "transfer",
    FindingLevel::opportunity,
    "a transfer in every step that need not be there",
    "A line of code copies to the device what it copied the time before, byte for byte, in each of the last two steps "
    "(64 KiB or more), or copies 1 MiB or more to the host in each. Above 64 KiB sixteen parts of the content are "
    "compared, not all of it.",
    "mask = torch.triu(torch.ones(length, length)).to(\"cuda\")      # in every forward",
    "make it once, on the device, and keep it (register_buffer)",
    find_transfer};

}  // namespace ullage::findings
