// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

constexpr std::uint64_t least = 64 << 20;

std::vector<Finding> find_outside_pytorch(const Rule& rule, const Subject& subject) {
  const auto& cut = subject.facts().peak;
  if (!cut.whole_device || cut.outside < least || cut.outside < subject.worth()) return {};
  Finding finding = finding_of(rule, cut.outside, format_bytes(cut.outside) + " are on the device outside PyTorch");
  finding.evidence.push_back("PyTorch has " + format_bytes(cut.reserved.value_or(0)) + " reserved, the CUDA context " +
                             format_bytes(cut.context));
  return {finding};
}

}  // namespace

const Rule outside_pytorch{
    "outside_pytorch",
    FindingLevel::opportunity,
    "memory outside PyTorch",
    "Other libraries of the process hold device memory that PyTorch's counters do not show: communicators, decoders, "
    "inference engines, memory pools of their own. At least 64 MiB and 3 % of what PyTorch has allocated.",
    "cupy.cuda.MemoryPool(), nvjpeg, a second framework",
    "look for the library that takes it and its limit; --reserve keeps room for it in a plan",
    find_outside_pytorch};

}  // namespace ullage::findings
