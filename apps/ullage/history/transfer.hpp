// SPDX-License-Identifier: Apache-2.0
// The actions of `ullage store`. The first positional is the action's name.
#pragma once

#include "apps/ullage/exit_code.hpp"
#include "apps/ullage/flags.hpp"
#include "apps/ullage/history/location.hpp"

namespace ullage::cli {

[[nodiscard]] Result<ExitCode> rebuild_store(const Arguments& arguments);
[[nodiscard]] Result<ExitCode> export_store(const Arguments& arguments);
[[nodiscard]] Result<ExitCode> import_store(const Arguments& arguments);

}  // namespace ullage::cli
