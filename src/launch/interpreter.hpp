// SPDX-License-Identifier: Apache-2.0
// Which Python a command runs, and which torch that Python has: asked before the command starts, without importing
// torch.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ullage {

/// The torch of one Python.
struct TorchProbe {
  std::string interpreter;
  std::string python;   ///< 3.11.2
  bool found = false;   ///< torch is installed
  std::string version;  ///< 2.11.0+cu130
  std::string cuda;     ///< 13.0; empty for a build without CUDA
  bool rocm = false;
  std::string cudnn;                       ///< as the wheel asks for it: 9.19.0.56; empty when it does not say
  std::vector<std::string> architectures;  ///< sm_75, sm_80 ...; empty when they could not be read
};

/// The interpreter that a command starts: the command itself when it is a Python, or the one that a script's first
/// lines name (also `#!/usr/bin/env python` and pip's launchers). Nothing for other programs (a shell script).
[[nodiscard]] std::optional<std::string> interpreter_of(const std::vector<std::string>& argv);

/// Absolute path of a program as a shell would find it; nothing when there is none.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);

/// Asks an interpreter about its torch. Errors: `unsupported` when the interpreter does not answer.
[[nodiscard]] Result<TorchProbe> probe_torch(const std::string& interpreter);

/// Checks that the stand-ins can serve this torch and that it holds code for a device of this compute capability.
/// Errors: `unsupported`, with what would work.
[[nodiscard]] Result<void> check_torch(const TorchProbe& probe, int cc_major, int cc_minor,
                                       const std::string& gpu_name);

/// cudnnGetVersion's number for a version as wheels spell it: 91900 for 9.19.0.56; empty for an empty text.
[[nodiscard]] std::string cudnn_number(const std::string& version);

}  // namespace ullage
