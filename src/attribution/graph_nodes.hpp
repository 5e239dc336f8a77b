// SPDX-License-Identifier: Apache-2.0
// Which operators made a node of the autograd graph, and whether a backward pass ran it.
#pragma once

#include <cstdint>
#include <vector>

#include "attribution/places.hpp"

namespace ullage::attribution {

class GraphNodes {
 public:
  /// The trace must be linked and outlive this.
  explicit GraphNodes(const timeline::Trace& trace);

  enum class Fate : std::uint8_t {
    unknown,    ///< no node, or not in the trace
    ran,        ///< a backward pass ran it
    never_ran,  ///< none did, as far as the trace goes
  };
  /// Of the node that the operator around a call made. An operator that runs with gradients carries the number that the
  /// next node will get (torch/csrc/autograd: sequence_nr); it made one when later operators carry larger numbers.
  [[nodiscard]] Fate fate_of(timeline::CallId call) const;

 private:
  [[nodiscard]] bool inside_backward(timeline::CallId call) const;
  const timeline::Trace& trace_;
  Places places_;
  std::vector<std::int32_t> last_;  ///< by thread: the largest number
};

}  // namespace ullage::attribution
