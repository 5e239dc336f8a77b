// SPDX-License-Identifier: Apache-2.0
// The parameters of a model as tensors, in the order in which building it allocates them.
#pragma once

#include "lowering/context.hpp"
#include "model/description.hpp"

#include <string_view>
#include <vector>

namespace ullage::lowering {

class Weights {
 public:
  /// `trained`: by parameter, in the order of model::for_each_parameter; empty for all. `before_head` is called where
  /// the inner model is complete.
  Weights(Context& context, const model::Model& model, DType type, const std::vector<bool>& frozen,
          const std::function<void()>& before_head);

  /// A parameter of the top level by its full name; empty when the model has none of that name.
  [[nodiscard]] Tensor top(std::string_view name) const;
  /// A parameter of layer `index`, by its name in the layer.
  [[nodiscard]] Tensor layer(std::size_t index, std::string_view name) const;
  /// What the list of layers is called: layers, h.
  [[nodiscard]] const std::string& list_name() const { return list_name_; }
  /// A buffer by which embeddings are scaled; empty for none.
  [[nodiscard]] const Tensor& scale() const { return scale_; }
  /// All that own their storage, in order.
  [[nodiscard]] const std::vector<Tensor>& all() const { return all_; }

 private:
  void make_layers(Context& context, const model::Group& group,
                   const std::function<Tensor(const model::Parameter&)>& make);
  struct Named {
    std::string name;
    Tensor tensor;
  };
  std::vector<Named> top_;
  std::vector<std::vector<Tensor>> layers_;  ///< by layer, in the order of the names
  std::vector<std::string> names_;           ///< of a layer's parameters
  std::vector<Tensor> all_;
  Tensor scale_;
  std::string list_name_ = "layers";
};

}  // namespace ullage::lowering
