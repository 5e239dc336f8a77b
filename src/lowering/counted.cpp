// SPDX-License-Identifier: Apache-2.0
#include "lowering/counted.hpp"

#include <array>
#include <new>

namespace ullage::lowering {
namespace {

// Under AddressSanitizer every object has memory of its own, so that a use after its end is seen.
#ifdef __SANITIZE_ADDRESS__
constexpr bool recycles = false;
#else
constexpr bool recycles = true;
#endif

/// Memory of objects that are gone, by size, for the next of that size.
class FreeLists {
 public:
  FreeLists() = default;
  FreeLists(const FreeLists&) = delete;
  FreeLists& operator=(const FreeLists&) = delete;
  ~FreeLists() {
    for (Link* link : first_)
      while (link != nullptr) ::operator delete(std::exchange(link, link->next));
  }
  void* take(std::size_t bytes) {
    Link*& first = first_[class_of(bytes)];
    if (first == nullptr) return ::operator new(class_of(bytes) * unit);
    return std::exchange(first, first->next);
  }
  void give(void* memory, std::size_t bytes) {
    Link*& first = first_[class_of(bytes)];
    first = new (memory) Link{first};
  }
  static bool serves(std::size_t bytes) { return recycles && class_of(bytes) < classes; }

 private:
  struct Link {
    Link* next;
  };
  static constexpr std::size_t unit = 16, classes = 33;
  static std::size_t class_of(std::size_t bytes) { return (bytes + unit - 1) / unit; }
  std::array<Link*, classes> first_{};
};

thread_local FreeLists lists;

}  // namespace

void* Counted::operator new(std::size_t bytes) {
  return FreeLists::serves(bytes) ? lists.take(bytes) : ::operator new(bytes);
}

void Counted::operator delete(void* memory, std::size_t bytes) noexcept {
  FreeLists::serves(bytes) ? lists.give(memory, bytes) : ::operator delete(memory);
}

}  // namespace ullage::lowering
