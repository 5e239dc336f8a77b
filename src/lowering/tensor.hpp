// SPDX-License-Identifier: Apache-2.0
// Tensors without values: sizes, strides, dtype and a storage whose life is noted in the step program.
#pragma once

#include "lowering/counted.hpp"
#include "lowering/tape.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace ullage::lowering {

enum class DType : std::uint8_t { fp32, bf16, fp16, int64, int32, boolean };
[[nodiscard]] std::uint64_t bytes_of(DType type);
[[nodiscard]] constexpr bool is_half(DType type) {
  return type == DType::bf16 || type == DType::fp16;
}
[[nodiscard]] constexpr bool is_floating(DType type) {
  return type == DType::fp32 || is_half(type);
}

/// Sizes or strides of up to six dimensions.
class Extents {
 public:
  using Value = std::int64_t;
  Extents() = default;
  Extents(std::initializer_list<Value> values) {
    for (const Value value : values) push(value);
  }
  void push(Value value) { values_[count_++] = value; }
  [[nodiscard]] std::size_t count() const { return count_; }
  Value& operator[](std::size_t index) { return values_[index]; }
  Value operator[](std::size_t index) const { return values_[index]; }
  [[nodiscard]] const Value* begin() const { return values_.data(); }
  [[nodiscard]] const Value* end() const { return values_.data() + count_; }
  [[nodiscard]] Value back() const { return values_[count_ - 1]; }
  void resize(std::size_t count) { count_ = static_cast<std::uint8_t>(count); }
  void erase(std::size_t index);
  void insert(std::size_t index, Value value);
  [[nodiscard]] Value product() const;
  bool operator==(const Extents& other) const;

 private:
  std::array<Value, 6> values_{};
  std::uint8_t count_ = 0;
};

/// Memory of its own. Given back when the last tensor on it goes.
struct Storage : Counted {
  Storage(Tape& the_tape, std::uint64_t bytes, program::Role role)
      : tape(the_tape), id(the_tape.allocate(bytes, role)) {}
  ~Storage() { tape.free(id); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  Tape& tape;
  std::uint32_t id;
};

struct Node;
struct TensorBody;
using Tensor = Ref<TensorBody>;

struct TensorBody : Counted {
  Ref<Storage> storage;
  Tensor base;  ///< what this is a view of; a view keeps it alive
  Extents sizes, strides;
  DType type = DType::fp32;
  bool requires_grad = false;
  std::uint8_t output = 0;  ///< which output of its node
  Ref<Node> node;           ///< that made it, or that takes its gradient
  Tensor gradient;          ///< .grad of a leaf

  TensorBody();
  ~TensorBody();
  TensorBody(const TensorBody&) = delete;
  TensorBody& operator=(const TensorBody&) = delete;
  [[nodiscard]] std::int64_t elements() const { return sizes.product(); }
  [[nodiscard]] std::uint64_t bytes() const { return static_cast<std::uint64_t>(elements()) * bytes_of(type); }
  /// Bytes of memory behind it: an expanded dimension counts once.
  [[nodiscard]] double bytes_behind() const;
};

[[nodiscard]] Extents contiguous_strides(const Extents& sizes);
[[nodiscard]] bool is_contiguous(const TensorBody& tensor);
/// Every element once and no gaps, in any order of the dimensions.
[[nodiscard]] bool is_dense(const TensorBody& tensor);
/// Strides with which a tensor can be seen in other sizes without a copy; false where it cannot.
[[nodiscard]] bool view_strides(const TensorBody& tensor, const Extents& sizes, Extents& strides);

}  // namespace ullage::lowering
