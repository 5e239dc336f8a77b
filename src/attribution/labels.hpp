// SPDX-License-Identifier: Apache-2.0
// Labels: who owns each allocation of a timeline, and how that is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "timeline/allocations.hpp"
#include "timeline/timeline.hpp"

namespace ullage::attribution {

/// How the owner of bytes is known.
enum class AttributedBy : std::uint8_t {
  nothing,
  named,       ///< the tensor itself was seen as a parameter, a gradient, a state, an input
  module,      ///< allocated inside a module's operator, or by its backward
  frames,      ///< the call stack
  lifetime,    ///< when it was born and when it died
  size,        ///< its size against others
  annotation,  ///< inside a named range of the source
};
const char* name_of(AttributedBy attributed_by);  ///< empty for `nothing`

/// The lines of the chart of accounts that hold allocated blocks, in the order in which they own a storage.
enum class Category : std::uint8_t {
  parameters,
  gradients,
  optimizer_state,
  communication,
  workspaces,
  inputs,
  activations,
  temporaries,
  unattributed,
};
inline constexpr std::size_t categories = 9;
const char* id_of(Category category);    ///< `optimizer_state`
const char* name_of(Category category);  ///< `optimizer state`

/// What PyTorch gives cuBLAS once a handle and stream, 2 x 4 MiB + 8 x 16 KiB (aten/src/ATen/cuda/CublasHandlePool.cpp,
/// getChosenWorkspaceSize; on compute capability 9.0 it is another size). Nothing else has this size.
inline constexpr std::uint64_t cublas_workspace_bytes = 8519680;

/// Whether a file of PyTorch makes what it allocates to be sent to other ranks.
bool is_communication_file(std::string_view file);

/// What is known of one allocation. Texts are numbers in Labels::strings; 0 is "not known".
struct Label {
  Category category = Category::unattributed;
  AttributedBy by = AttributedBy::nothing;
  timeline::StringId kind = 0;       ///< within the category: `exp_avg`, `saved for backward`, `buffers`
  timeline::StringId module = 0;     ///< dotted name
  timeline::StringId operation = 0;  ///< `aten::linear`, `aten::linear backward`
  timeline::StringId name = 0;       ///< the tensor's own name
};

struct Labels {
  std::vector<Label> of;  ///< by AllocationId
  timeline::StringTable strings;
};

}  // namespace ullage::attribution
