// SPDX-License-Identifier: Apache-2.0
// What kernels ask a device for, and what those of one program were told: another device that tells them the same runs
// the same program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ullage::lowering {

struct DeviceFacts {
  std::int64_t multiprocessors = 108;
  std::int64_t threads_per_multiprocessor = 2048;
  std::int64_t shared_memory_per_block = 166912;  ///< opt-in, in bytes
  int compute_major = 8, compute_minor = 0;
};

/// What is asked about: sizes of a kernel's work.
using QuestionSizes = std::array<std::int64_t, 5>;
/// A question that devices of one architecture answer differently: the number of multiprocessors is in it.
using Question = std::int64_t (*)(const DeviceFacts& device, const QuestionSizes& sizes);

/// The answers that a program was made of.
class DeviceAnswers {
 public:
  /// Asks the device, once for the same sizes.
  std::int64_t ask(const DeviceFacts& device, Question question, const QuestionSizes& sizes);
  /// Whether `other` is as good as `device`, which gave these answers.
  [[nodiscard]] bool alike(const DeviceFacts& device, const DeviceFacts& other) const;
  [[nodiscard]] std::size_t count() const { return asked_.size(); }

 private:
  struct Asked {
    Question question;
    QuestionSizes sizes;
    std::int64_t answer;
  };
  std::vector<Asked> asked_;  ///< a few
};

}  // namespace ullage::lowering
