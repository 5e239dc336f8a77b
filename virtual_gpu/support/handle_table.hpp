// SPDX-License-Identifier: Apache-2.0
// The objects behind the opaque handles of a stand-in library. Handles come from the machine, so no two are ever equal.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "virtual_gpu/device/handles.hpp"
#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu {

template <class State>
class HandleTable {
 public:
  void* create(State state = {}) {
    const std::uint64_t handle = ullage_machine()->new_handle();
    const std::lock_guard lock(mutex_);
    states_.emplace(handle, std::move(state));
    return reinterpret_cast<void*>(handle);
  }

  /// Calls `use(State&)` under the lock; false for a handle that is not known.
  template <class Use>
  bool with(const void* handle, Use use) {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(reinterpret_cast<std::uint64_t>(handle));
    if (found == states_.end()) return false;
    use(found->second);
    return true;
  }

  bool destroy(const void* handle) {
    const std::lock_guard lock(mutex_);
    return states_.erase(reinterpret_cast<std::uint64_t>(handle)) == 1;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, State> states_;
};

/// One table per type of object and library; never destroyed, as libraries are used until the process ends.
template <class State>
HandleTable<State>& handles() {
  static auto* table = new HandleTable<State>;
  return *table;
}

}  // namespace ullage::vgpu
