// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "findings/rules/all.hpp"
#include "ledger/verdict.hpp"

namespace ullage::findings {

namespace {

std::string percent(double share) {
  return std::to_string(static_cast<int>(share * 100 + 0.5)) + " %";
}

std::vector<Finding> find_headroom(const Rule& rule, const Subject& subject) {
  const auto& facts = subject.facts();
  if (!facts.fits || !facts.capacity || facts.ledger == nullptr) return {};
  const auto judged = ledger::judge(*facts.capacity, facts.ledger->peak.used, facts.headroom, facts.reserve);
  if (judged.verdict != ledger::Verdict::tight) return {};
  const auto wanted = static_cast<std::uint64_t>(static_cast<double>(*facts.capacity) * facts.headroom);
  Finding finding = finding_of(rule, wanted - judged.left_bytes,
                               "only " + format_bytes(judged.left_bytes) + " (" + percent(judged.fraction) +
                                   ") are left of " + format_bytes(*facts.capacity));
  finding.bytes_are = "short of the rule";
  finding.evidence.push_back("the rule leaves " + percent(facts.headroom) + ", " + format_bytes(wanted) +
                             ", for longer inputs, fragmentation and what one rehearsal does not show");
  return {finding};
}

}  // namespace

const Rule headroom{
    "headroom",
    FindingLevel::problem,
    "less headroom than the rule",
    "The run fits, but less of the capacity than --headroom (15 % by default; 15 to 20 % is what practice advises) is "
    "left at the peak of used memory.",
    "ullage rehearse --gpu a100-40gb -- python train.py     # used 36 of 39.4 GiB",
    "take bytes off the peak (the other findings say where), or a larger card",
    find_headroom};

}  // namespace ullage::findings
