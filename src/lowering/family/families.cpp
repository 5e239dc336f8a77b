// SPDX-License-Identifier: Apache-2.0
#include "lowering/run.hpp"

#include <array>
#include <utility>

namespace ullage::lowering {

Forward forward_of(std::string_view model_type) {
  constexpr std::array<std::pair<std::string_view, Forward>, 9> known{{{"gemma2", gemma2_forward},
                                                                       {"gpt2", gpt2_forward},
                                                                       {"gpt_neox", gpt_neox_forward},
                                                                       {"llama", llama_forward},
                                                                       {"mistral", llama_forward},
                                                                       {"opt", opt_forward},
                                                                       {"phi3", llama_forward},
                                                                       {"qwen2", llama_forward},
                                                                       {"qwen3", llama_forward}}};
  for (const auto& [name, forward] : known)
    if (name == model_type) return forward;
  return nullptr;
}

}  // namespace ullage::lowering
