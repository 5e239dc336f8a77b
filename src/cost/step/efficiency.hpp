// SPDX-License-Identifier: Apache-2.0
// How much of a GPU's peak its kernels reach: the constants of the step time, each with its range and source.
#pragma once

#include <string_view>

namespace ullage::cost {

/// A constant and the range that it was seen in.
struct Ranged {
  double low, value, high;
};

/// Products of matrices: launch + sqrt(compute^2 + memory^2), where compute = flops / (peak * share) *
/// (1 + tiles * multiprocessors * 128^2 / (batch * m * n)) - a device that few tiles of the result fill is not busy -
/// and memory = bytes / (bandwidth * bandwidth_share). Least squares of the logarithms over 4,423 bf16 products on
/// A100, H100, H200, B200 and L40S with m >= 64 and n, k >= 256 (ai-dynamo/aiconfigurator 095f58a, Apache-2.0), by
/// bench/product_model.py.
struct ProductModel {
  double share = 0.767;
  double bandwidth_share = 0.872;
  double tiles = 0.064;
  /// Measured over predicted, 5 % and 95 % quantiles, each GPU predicted by a fit without it.
  double low = 0.78, high = 1.34;
};

/// Between two kernels of a stream, in seconds. Value: the same fit; high: the fit of A100 alone.
inline constexpr Ranged gap_seconds{2e-6, 3.1e-6, 8e-6};
/// What PyTorch and Python take on the host to launch a kernel, in seconds: where that is more than a pass takes on the
/// device, the device waits. Llama 3.2 1B, eager, micro batch 1, sequence 512 on a B200: 8.1 ms for the 642 launches of
/// a forward pass; 20 us for each of a step with checkpointing (stas00/ml-engineering 744d01e, training/performance).
inline constexpr Ranged host_seconds{5e-6, 13e-6, 25e-6};

/// Share of the memory bandwidth. Value and high: streaming kernels, the fit above and softmax on an RTX 3090
/// (linkedin/Liger-Kernel ead96b61, benchmark data); low: twice the usual shortfall.
inline constexpr Ranged streaming_share{0.65, 0.82, 0.90};
/// The same of kernels that go over rows (normalisations, softmax, sums), which read some of them twice. LayerNorm and
/// cross entropy on A100, LayerNorm on H100, softmax on RTX 3090: 0.58, 0.42, 0.57, 0.87 (the same source).
inline constexpr Ranged row_share{0.40, 0.58, 0.87};

/// Fused attention's share of the matrix peak, of the FLOPs that are left when the masked ones are not done:
/// FlashAttention-2 reaches 50-73 % of an A100 (arXiv 2307.08691), 35 % of an H100, its successor 75 % of that
/// (arXiv 2407.08608).
inline constexpr Ranged attention_share{0.30, 0.55, 0.75};

/// Model FLOPs utilisation of the baseline: Llama 3 405B on 8,192 to 16,384 H100 in bf16 reached 0.38 to 0.43
/// (arXiv 2407.21783, table 4).
inline constexpr double baseline_mfu = 0.40;
inline constexpr std::string_view baseline_source = "Llama 3 405B on H100s, arXiv 2407.21783: 38 to 43 %";

}  // namespace ullage::cost
