// SPDX-License-Identifier: Apache-2.0
#include "lowering/device.hpp"

#include <algorithm>

namespace ullage::lowering {

std::int64_t DeviceAnswers::ask(const DeviceFacts& device, Question question, const QuestionSizes& sizes) {
  for (const Asked& asked : asked_)
    if (asked.question == question && asked.sizes == sizes) return asked.answer;
  asked_.push_back({question, sizes, question(device, sizes)});
  return asked_.back().answer;
}

bool DeviceAnswers::alike(const DeviceFacts& device, const DeviceFacts& other) const {
  if (device.compute_major != other.compute_major || device.compute_minor != other.compute_minor ||
      device.shared_memory_per_block != other.shared_memory_per_block)
    return false;
  return std::ranges::all_of(asked_,
                             [&](const Asked& asked) { return asked.question(other, asked.sizes) == asked.answer; });
}

}  // namespace ullage::lowering
