// SPDX-License-Identifier: Apache-2.0
// The time a thread spends in a function of the API, for a profiler that looks on.
#pragma once

#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu {

class ApiScope {
 public:
  explicit ApiScope(ApiCall call) : observer_(ullage_machine()->observer()) {
    if (observer_ != nullptr) observer_->enter(call);
  }
  ~ApiScope() {
    if (observer_ != nullptr) observer_->leave();
  }
  ApiScope(const ApiScope&) = delete;
  ApiScope& operator=(const ApiScope&) = delete;

 private:
  ActivityObserver* observer_;
};

}  // namespace ullage::vgpu
