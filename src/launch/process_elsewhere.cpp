// SPDX-License-Identifier: Apache-2.0
// launch() where there is no Linux.
#include "launch/process.hpp"

namespace ullage {

Result<LaunchOutcome> launch(const LaunchOptions&) {
  return fail(ErrorKind::unsupported, "commands can be run on Linux only", {}, {}, "run this on a Linux machine");
}

}  // namespace ullage
