// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/peaks.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

std::vector<Finding> find_load_peak(const Rule& rule, const Subject& subject) {
  const PartPeaks peaks = part_peaks(subject);
  const std::uint64_t others =
      std::max({peaks.training.bytes, peaks.optimizer.bytes, peaks.evaluation.bytes, peaks.between.bytes});
  if (peaks.load.bytes < others + subject.worth()) return {};
  const auto& timeline = subject.timeline();
  Finding finding = finding_of(rule, peaks.load.bytes - others, "loading needs more memory than any step",
                               code_line(timeline, timeline.events.stack[peaks.load.event]));
  finding.evidence.push_back(format_bytes(peaks.load.bytes) + " before the first forward, " + format_bytes(others) +
                             " at most after it");
  return {finding};
}

}  // namespace

const Rule load_peak{
    "load_peak",
    FindingLevel::opportunity,
    "loading peaks above the steps",
    "Allocated memory is highest before the first forward: a checkpoint read to the device beside the model that takes "
    "it, a model made in fp32 and converted there. The bytes are those above the highest of all later moments.",
    "state = torch.load(path, map_location=\"cuda\")\nmodel.load_state_dict(state)",
    "load to the host (map_location=\"cpu\"), or with assign=True and mmap=True, and give the state up at once",
    find_load_peak};

}  // namespace ullage::findings
