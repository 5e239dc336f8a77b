// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "findings/lack.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

std::vector<Finding> find_no_hole(const Rule& rule, const Subject& subject) {
  const auto failed = timeline::last_out_of_memory(subject.timeline());
  if (!failed || subject.facts().initial == nullptr) return {};
  const Lack lack = lack_at(subject.timeline(), *subject.facts().initial, *failed);
  if (lack.largest_piece == 0 || lack.requested <= lack.largest_piece || lack.idle < lack.requested) return {};
  Finding finding =
      finding_of(rule, lack.requested, "no hole is large enough for the request of " + format_bytes(lack.requested),
                 code_line(subject.timeline(), subject.timeline().events.stack[*failed]));
  finding.bytes_are = "asked for";
  finding.evidence.push_back("the largest hole has " + format_bytes(lack.largest_piece) + ", all holes together " +
                             format_bytes(lack.idle));
  return {finding};
}

}  // namespace

const Rule no_hole{
    "no_hole",
    FindingLevel::problem,
    "a request is larger than any hole, though all holes together would hold it",
    "The allocator's blocks at the failed request: the free ones add up to more than was asked for, and the largest of "
    "them is smaller.",
    "cache = torch.empty(3 << 30, dtype=torch.uint8, device=\"cuda\")   # after many allocations of other sizes",
    "make the large allocation first, or in parts; see 'ullage ledger RUN --segments' for what holds the segments",
    find_no_hole};

}  // namespace ullage::findings
