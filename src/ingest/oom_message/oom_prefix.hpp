// SPDX-License-Identifier: Apache-2.0
// Internal to the reader of out-of-memory texts: what launchers, schedulers and terminals put in front of a line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ullage::ingest {

/// A line without its prefixes.
struct BareLine {
  std::string_view text;
  std::string origin;       ///< the prefix that names a process: `rank3`, `default0`, `3`, `RayTrainWorker pid=7`
  std::optional<int> rank;  ///< when the prefix states one
};

/// Takes off timestamps and the prefixes of torchrun (`[rank3]:`, `[default0]:`), srun (`3: `), mpirun
/// (`[1,3]<stderr>:`), Ray (`(Name pid=7, ip=1.2.3.4)`), containers (`web-1  | `), mail quotes and boxes.
BareLine bare_line(std::string_view line);

/// Appends `text` in lower case, without white space, colour codes, and the line breaks that JSON writes as `\n`.
void squeeze(std::string_view text, std::string& out);

}  // namespace ullage::ingest
