// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "allocator/replay.hpp"
#include "base/bytes.hpp"
#include "findings/cure.hpp"
#include "findings/lack.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

constexpr std::uint64_t least = 1 << 30;

const allocator::Settings& expandable() {
  static const allocator::Settings settings = [] {
    allocator::Settings made;
    made.sizes.expandable_segments = true;
    return made;
  }();
  return settings;
}

std::vector<Finding> at_failure(const Rule& rule, const Subject& subject, std::size_t at) {
  const auto& facts = subject.facts();
  const Lack lack = lack_at(subject.timeline(), *facts.initial, at);
  if (!lack.fragmented) return {};
  const auto cure = cure_by(subject.timeline(), *facts.initial, at, lack.reserved, expandable(), facts.rules);
  Finding finding = finding_of(rule, lack.idle,
                               "a request of " + format_bytes(lack.requested) + " failed with " +
                                   format_bytes(lack.idle) + " reserved but idle");
  finding.bytes_are = "idle at the failed request";
  if (cure && cure->passes)
    finding.evidence.push_back("replayed with expandable_segments:True: the request finds room, " +
                               format_bytes(cure->peak_reserved) + " reserved");
  if (cure && !cure->passes) {
    finding.evidence.emplace_back("replayed with expandable_segments:True: the request fails all the same");
    finding.next =
        "'ullage replay RUN --search' tries other settings, 'ullage ledger RUN --segments' shows what holds the "
        "segments";
  }
  return {finding};
}

// Some waste is usual, and no harm where the device has plenty.
bool enough(const Subject& subject, std::uint64_t saved) {
  const auto& facts = subject.facts();
  const std::uint64_t wanted = facts.capacity ? *facts.capacity / 20 : least;
  return saved >= facts.reserved_peak / 10 * 3 && saved >= wanted;
}

std::vector<Finding> at_reserved_peak(const Rule& rule, const Subject& subject) {
  const auto& facts = subject.facts();
  const std::uint64_t reserved = facts.reserved_peak;
  // No setting reserves less than what is allocated: only where there is that much between the two a replay is worth
  // it.
  if (subject.timeline().settings.expandable_segments || reserved < subject.allocated() ||
      !enough(subject, reserved - subject.allocated()))
    return {};
  allocator::ReplayOptions options;
  options.settings = expandable();
  options.rules = facts.rules;
  const auto with = allocator::replay(subject.timeline(), *facts.initial, options);
  if (!with.start_is_exact || with.peak_reserved >= reserved || !enough(subject, reserved - with.peak_reserved))
    return {};
  const std::uint64_t saved = reserved - with.peak_reserved;
  Finding finding = finding_of(rule, saved, format_bytes(saved) + " of the reserved memory are lost to fragmentation");
  finding.bytes_are = "at the peak of reserved memory";
  finding.evidence.push_back("reserved " + format_bytes(reserved) + "; replayed with expandable_segments:True " +
                             format_bytes(with.peak_reserved));
  return {finding};
}

std::vector<Finding> find_fragmentation(const Rule& rule, const Subject& subject) {
  if (subject.facts().initial == nullptr) return {};
  if (const auto failed = timeline::last_out_of_memory(subject.timeline())) return at_failure(rule, subject, *failed);
  return at_reserved_peak(rule, subject);
}

}  // namespace

const Rule fragmentation{
    "fragmentation",
    FindingLevel::problem,
    "reserved memory lies idle in pieces",
    "At a failed request: what lies idle would have held it, and is at least a twentieth of what is reserved. "
    "Otherwise: "
    "the same requests, replayed with expandable segments, reserve at least 30 % less, and that is a twentieth of the "
    "device (1 GiB where it is not known); some waste is usual. The replay is of "
    "the whole recording, so the answer is what PyTorch would have done, not a guess.",
    "for length in growing_lengths:            # each longer sequence needs new segments\n    step(batch_of(length))",
    "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; 'ullage replay RUN --search' tries other settings, "
    "'ullage ledger RUN --segments' shows what holds the segments",
    find_fragmentation};

}  // namespace ullage::findings
