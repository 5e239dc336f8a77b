// SPDX-License-Identifier: Apache-2.0
// The exit codes of `ullage`: a contract with scripts.
#pragma once

#include "base/result.hpp"

namespace ullage::cli {

enum class ExitCode {
  yes = 0,            ///< done; the answer is yes (fits, also tight)
  no = 1,             ///< done; the answer is no (oom, over budget, regression)
  usage = 2,          ///< a mistake on the command line; a command to run that is not found
  bad_input = 3,      ///< a damaged or foreign input file
  io = 4,             ///< reading, writing, or the store failed
  script_failed = 5,  ///< the user's script failed by itself
  timeout = 6,        ///< the time limit of a rehearsal was reached
  unsupported = 7,    ///< this environment cannot do it
  internal = 70,      ///< a mistake of ours
  interrupted = 130,  ///< Ctrl-C
};

/// The code that ends a command which failed with an error of that kind.
constexpr ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return ExitCode::usage;
    case ErrorKind::bad_input:
      return ExitCode::bad_input;
    case ErrorKind::io:
      return ExitCode::io;
    case ErrorKind::unsupported:
      return ExitCode::unsupported;
    case ErrorKind::script_failed:
      return ExitCode::script_failed;
    case ErrorKind::timeout:
      return ExitCode::timeout;
    case ErrorKind::internal:
      return ExitCode::internal;
  }
  return ExitCode::internal;
}

}  // namespace ullage::cli
