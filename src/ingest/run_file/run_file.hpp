// SPDX-License-Identifier: Apache-2.0
// Reads a file of settings: YAML, of which JSON is a part. Keys and values as texts; what they mean is the caller's.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ullage::ingest {

/// The most bytes that such a file may have.
inline constexpr std::size_t most_run_file_bytes = std::size_t{1} << 20;

struct Setting {
  std::string key;
  std::vector<std::string> values;  ///< one, or the items of a list; none for null
  bool is_list = false;
  bool nested = false;   ///< a map, or a list that holds more than scalars: not read
  std::size_t line = 0;  ///< from 1
};

/// true and false as YAML 1.2 spells them: also True, TRUE; nothing for other texts.
[[nodiscard]] std::optional<bool> truth_of(std::string_view text);

/// The settings in the order of the file. `where` is its name, for errors. Errors: `bad_input` with the line, for what
/// is no YAML, more than one document, no map of names, a name that is there twice, and for more than
/// most_run_file_bytes.
[[nodiscard]] Result<std::vector<Setting>> read_run_file(std::string_view text, const std::string& where);

}  // namespace ullage::ingest
