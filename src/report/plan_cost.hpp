// SPDX-License-Identifier: Apache-2.0
// What a planned step costs besides memory: FLOPs, bytes moved, time; and what a whole training comes to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ullage::report {

/// FLOPs of one pass by class of operator.
struct PlanPass {
  std::string name;  ///< forward, recomputed, backward
  double matmul = 0, attention = 0;
};

/// FLOPs of one step. `counted` is the sum of the five after `rule`.
struct PlanFlops {
  std::uint64_t tokens = 0;  ///< of the step
  std::vector<PlanPass> passes;
  double matmul = 0, attention = 0;
  unsigned rule_factor = 6;
  double rule = 0;  ///< rule_factor * parameters * tokens: 2 in inference
  double not_multiplied = 0, attention_products = 0, recomputed = 0, not_trained = 0;
  double counted = 0;
};

/// Seconds.
struct PlanSeconds {
  double low = 0, value = 0, high = 0;
};

/// One class of operators in a step.
struct PlanWork {
  std::string name;  ///< matmul, attention, pointwise ...
  double seconds = 0;
  double bytes = 0;  ///< read and written
  std::uint64_t launches = 0;
};

struct PlanTime {
  PlanSeconds step;
  std::string bound_by;  ///< compute, memory, launch
  double compute_seconds = 0, memory_seconds = 0, launch_seconds = 0;
  std::vector<std::pair<std::string, double>> passes;  ///< name, seconds
  std::vector<PlanWork> work;                          ///< on the device alone
  double tokens_per_second = 0;                        ///< of all GPUs
  double utilisation = 0;                              ///< model FLOPs utilisation
  double peak_flops = 0;                               ///< FLOP/s
  double baseline_share = 0;                           ///< of the constant-MFU estimate
  std::string baseline_source;                         ///< where that share is from
  double baseline_seconds = 0;
  bool emulated = false;                ///< the GPU has no matrix units for the type
  std::uint64_t gpus = 1;               ///< that share the tokens
  std::optional<PlanSeconds> training;  ///< with --tokens
};

struct PlanCost {
  PlanFlops flops;
  PlanTime time;
};

/// Passes of a generation together.
struct PlanPasses {
  std::uint64_t tokens = 0;  ///< that go in, of all sequences
  std::uint64_t passes = 0;
  double matmul = 0, attention = 0;  ///< FLOPs
  double bytes = 0;                  ///< read and written
  PlanSeconds time;
  double device_seconds = 0;  ///< of time.value, without waits for the host
  std::string bound_by;       ///< compute, memory, launch
  double tokens_per_second = 0;
};

/// A prompt at once, then token by token.
struct PlanGeneration {
  PlanPasses prefill, decode;
  PlanSeconds last_token;  ///< the last pass, with the longest cache
  bool emulated = false;   ///< the GPU has no matrix units for the type
};

/// The back of an envelope, with --tokens.
struct PlanEnvelope {
  double tokens = 0, flops = 0;            ///< flops = 6 * parameters * tokens
  std::optional<double> flops_per_second;  ///< with --flops-rate
  double seconds = 0;                      ///< with a rate
};

}  // namespace ullage::report
