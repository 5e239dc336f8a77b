// SPDX-License-Identifier: Apache-2.0
#include "setup/optimizer.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <string>

namespace ullage::setup {
namespace {

constexpr std::uint64_t large_elements = 4096;  // bitsandbytes: min_8bit_size
constexpr std::uint64_t block_elements = 256;   // bitsandbytes: blocksize of the 8-bit optimizers

constexpr StateRule adam[] = {{"exp_avg", Extent::elements, 0}, {"exp_avg_sq", Extent::elements, 0}};
constexpr StateRule adam_fused[] = {
    {"exp_avg", Extent::elements, 0}, {"exp_avg_sq", Extent::elements, 0}, {"step", Extent::tensor, 4}};
constexpr StateRule momentum[] = {{"momentum_buffer", Extent::elements, 0}};
constexpr StateRule eight_bit[] = {
    {"state1", Extent::elements, 1, Applies::large}, {"state1", Extent::elements, 4, Applies::small},
    {"state2", Extent::elements, 1, Applies::large}, {"state2", Extent::elements, 4, Applies::small},
    {"absmax1", Extent::blocks, 4, Applies::large},  {"absmax2", Extent::blocks, 4, Applies::large},
    {"qmap1", Extent::once, 4, Applies::large},      {"qmap2", Extent::once, 4, Applies::large}};
constexpr StateRule factored[] = {{"RMS", Extent::tensor, 4},
                                  {"exp_avg_sq_row", Extent::rows, 4, Applies::matrices},
                                  {"exp_avg_sq_col", Extent::columns, 4, Applies::matrices},
                                  {"exp_avg_sq", Extent::elements, 4, Applies::vectors}};

constexpr Optimizer table[] = {
    {"adamw", "torch.optim.AdamW, its default on a GPU (foreach); the step counter is on the host", adam, false, true,
     "torch/optim/adam.py"},
    {"adamw-fused", "torch.optim.AdamW(fused=True); the step counter is on the device", adam_fused, false, false,
     "torch/optim/adam.py"},
    {"adamw-forloop", "torch.optim.AdamW(foreach=False); the step counter is on the host", adam, false, false,
     "torch/optim/adam.py"},
    {"sgd", "torch.optim.SGD with momentum", momentum, false, true, "torch/optim/sgd.py"},
    {"adamw-8bit",
     "AdamW8bit of bitsandbytes: 8-bit states with a scale for each 256 elements; fp32 below 4096 elements", eight_bit,
     true, false, "bitsandbytes/optim/optimizer.py"},
    {"adafactor", "Adafactor of transformers without a first moment: a row and a column instead of a matrix", factored,
     true, false, "transformers/optimization.py"},
};

}  // namespace

std::span<const Optimizer> optimizers() {
  return table;
}

Result<const Optimizer*> find_optimizer(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Optimizer& optimizer : table) {
    if (optimizer.name == name) return &optimizer;
    names.push_back(optimizer.name);
  }
  return fail(ErrorKind::usage, "unknown value '" + std::string(name) + "'", "--optimizer",
              join(std::vector<std::string>(names.begin(), names.end()), ", "), suggestion(name, names));
}

bool applies(Applies applies, std::size_t dimensions, std::uint64_t elements) {
  switch (applies) {
    case Applies::all:
      return true;
    case Applies::matrices:
      return dimensions >= 2;
    case Applies::vectors:
      return dimensions < 2;
    case Applies::large:
      return elements >= large_elements;
    case Applies::small:
      return elements < large_elements;
  }
  return false;
}

std::uint64_t entries(Extent extent, std::span<const std::uint64_t> shape, std::uint64_t elements) {
  switch (extent) {
    case Extent::elements:
      return elements;
    case Extent::rows:
      return shape.back() == 0 ? 0 : elements / shape.back();
    case Extent::columns:
      return shape[shape.size() - 2] == 0 ? 0 : elements / shape[shape.size() - 2];
    case Extent::blocks:
      return (elements + block_elements - 1) / block_elements;
    case Extent::tensor:
      return 1;
    case Extent::once:
      return 0;
  }
  return 0;
}

}  // namespace ullage::setup
