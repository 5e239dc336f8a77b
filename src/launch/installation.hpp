// SPDX-License-Identifier: Apache-2.0
// Where the stand-in libraries and the Python hook are, and the environment that puts them under a script.
#pragma once

#include "base/result.hpp"

#include <map>
#include <optional>
#include <string>

namespace ullage {

/// Parts of an installation, found next to the running program: PROGRAM/../../lib/ullage/{cuda13,files,site}.
struct Installation {
  std::string library_set;   ///< folder of the CUDA 13 stand-ins
  std::string file_library;  ///< stands before libc and protects the user's files
  std::string hook;          ///< folder with the hook's sitecustomize.py
};

/// Errors: `internal` when a part is missing; `unsupported` when the path holds a character that LD_PRELOAD cannot
/// carry (a space or a colon).
[[nodiscard]] Result<Installation> find_installation();

/// What one rehearsed process tree is told.
struct RehearsalSettings {
  std::string run_directory;                 ///< absolute
  std::string profile;                       ///< text of the device profile (virtual_gpu/device/profile.hpp)
  std::string steps = "auto";                ///< a number, auto or all
  std::string stacks = "python";             ///< python, all or none
  std::string operators = "names";           ///< names, shapes (input shapes too) or off
  std::string routing = "balanced";          ///< of experts whose scores are unknown: balanced or skewed
  bool unlimited = false;                    ///< the second run: the script's own memory limit does not count either
  bool allow_writes = false;                 ///< the user's files are not protected
  std::string compiler_cache;                ///< folder for what torch.compile and Triton keep; empty: their own
  std::optional<std::uint64_t> host_memory;  ///< bytes of the machine that the run is for; nothing: this one's
  std::string cudnn_version;                 ///< as cudnnGetVersion gives it; empty: the stand-in's own
};

/// What the recorder is told in a command that knows nothing of it.
struct RecordingSettings {
  std::string name;       ///< empty: the script's
  std::string directory;  ///< absolute; empty: one is made where runs are kept
  std::string interval;   ///< seconds between two looks at memory; empty: the recorder's own
  std::string history;    ///< steps whose memory history is kept: 3,10-12
  std::string profile;    ///< steps that torch.profiler traces
};

/// Changes to the environment: the hook's folder stands first in PYTHONPATH, behind it what that held. Deterministic.
[[nodiscard]] std::map<std::string, std::optional<std::string>> recording_environment(
    const std::string& hook, const RecordingSettings& settings);

/// The hook's folder alone: recording needs no stand-ins. Errors: as find_installation().
[[nodiscard]] Result<std::string> find_hook();

/// Changes to the environment: LD_PRELOAD and PYTHONPATH keep what they held, behind ours. Deterministic.
[[nodiscard]] std::map<std::string, std::optional<std::string>> rehearsal_environment(
    const Installation& installation, const RehearsalSettings& settings);

}  // namespace ullage
