// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "launch/descriptor.hpp"
#include "launch/process.hpp"
#include "launch/signals.hpp"

#include <sys/types.h>

namespace ullage {

/// A started command and the reading ends of its outputs (non-blocking).
struct Child {
  pid_t pid = -1;
  Descriptor out;
  Descriptor err;
};

/// Forks and executes. The child dies with this process. Errors: as launch().
[[nodiscard]] Result<Child> start_child(const LaunchOptions& options, const SignalWatch& signals);

}  // namespace ullage
