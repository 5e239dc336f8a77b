// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

namespace ullage {

/// The living processes that descend from this one, orphans included while it is their reaper. Read from /proc.
[[nodiscard]] std::vector<pid_t> living_descendants();

/// Sends a signal to each; those that are gone already do not matter.
void send_signal(const std::vector<pid_t>& processes, int number);

/// While it lives, orphans among this process's descendants become its children.
class Reaper {
 public:
  Reaper();
  ~Reaper();
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

 private:
  int before_ = 0;
};

}  // namespace ullage
