// SPDX-License-Identifier: Apache-2.0
// Shared objects that count their owners, as PyTorch's tensors and graph nodes do: when the last owner goes, so does
// the memory, and that moment is what a step program is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ullage::lowering {

template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) { take(); }
  Ref(const Ref& other) : object_(other.object_) { take(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ && --object_->owners == 0) delete object_;
  }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref&) const = default;

 private:
  void take() {
    if (object_) ++object_->owners;
  }
  T* object_ = nullptr;
};

/// Base of what a Ref owns. Such objects come and go by the thousand: memory of those that are gone is kept for the
/// thread's next ones.
struct Counted {
  std::uint32_t owners = 0;

  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, std::size_t bytes) noexcept;
};

}  // namespace ullage::lowering
