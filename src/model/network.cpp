// SPDX-License-Identifier: Apache-2.0
#include "model/network.hpp"

#include <array>
#include <utility>

namespace ullage::model {

// transformers' ACT2FN (activations.py of 5.24).
Activation activation_named(const std::string& name) {
  constexpr std::array<std::pair<const char*, Activation>, 9> known{{
      {"silu", Activation::silu},
      {"swish", Activation::silu},
      {"gelu", Activation::gelu},
      {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"gelu_new", Activation::gelu_new},
      {"gelu_fast", Activation::gelu_fast},
      {"quick_gelu", Activation::quick_gelu},
      {"relu", Activation::relu},
      {"gelu_python_tanh", Activation::gelu_new},
  }};
  for (const auto& [known_name, activation] : known)
    if (name == known_name) return activation;
  return Activation::other;
}

}  // namespace ullage::model
