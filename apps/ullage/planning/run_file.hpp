// SPDX-License-Identifier: Apache-2.0
// `ullage plan --run-file FILE`: the flags of a plan from a file, or from the TrainingArguments of transformers.
#pragma once

#include "apps/ullage/flags.hpp"
#include "base/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace ullage::cli {

/// What a run file came to.
struct RunFileUse {
  std::string path;
  bool training_arguments = false;     ///< it is a TrainingArguments of transformers
  std::vector<std::string> ignored;    ///< settings that are not read
  std::vector<std::string> unplanned;  ///< settings that would change the numbers, and are not planned
};

/// The command line with the settings of the file that it does not give itself.
struct Combined {
  Arguments arguments;
  RunFileUse use;
  std::map<std::string, std::string> places;  ///< of flags that the file gives: "run.yaml, line 2"
};

/// Says of the flags that an error is about where the file gives them.
[[nodiscard]] Error placed(Error error, const std::map<std::string, std::string>& places);

/// The flag that a setting is called after, with `-` or `_`; null for none that a file may have.
[[nodiscard]] const Flag* flag_of(const Shape& shape, std::string name);

/// Reads the file and parses it with the command line; what the command line says wins. Its settings are the flags of
/// the shape without their dashes, and `model`. Errors: those of the file; `bad_input` for a setting that is no flag.
[[nodiscard]] Result<Combined> with_run_file(const Shape& shape, const Arguments& arguments);

}  // namespace ullage::cli
