// SPDX-License-Identifier: Apache-2.0
// Which runs are meant.
#pragma once

#include "store/database.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ullage::store {

/// All that is given must hold.
struct Filter {
  std::vector<std::string> gpus, verdicts, kinds, names;  ///< one of each, where there are any
  std::optional<std::string> script;                      ///< the path, its end after a '/', or a pattern with * and ?
  std::optional<std::int64_t> since_ms, until_ms;         ///< started from then on; started before
  std::vector<std::pair<std::string, std::string>> settings;  ///< a key with its value; an empty value: just given
};

/// The condition for a WHERE on `runs`, and its parameters in order.
struct Condition {
  std::string sql;
  std::vector<std::string> texts;
};

[[nodiscard]] Condition condition_of(const Filter& filter);

}  // namespace ullage::store
