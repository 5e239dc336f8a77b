// SPDX-License-Identifier: Apache-2.0
// A line on the terminal for work that takes more than a second.
#pragma once

#include <chrono>
#include <string>

namespace ullage::cli {

/// Says on stderr what is being done, where that is a terminal and a second has passed since this was made; what was
/// said goes with it.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces what was said before; the text has one line.
  void say(const std::string& text);

 private:
  std::chrono::steady_clock::time_point next_;
  bool terminal_, said_ = false;
};

}  // namespace ullage::cli
