// SPDX-License-Identifier: Apache-2.0
// A run.json as the result that its parts are shown from.
#pragma once

#include "base/result.hpp"
#include "report/run_result.hpp"
#include "store/json_value.hpp"

#include <string>

namespace ullage::cli {

/// A line of a ledger with those below it. What has a wrong kind is taken as missing.
[[nodiscard]] ledger::Line ledger_line(const store::Json& json);

/// Verdict, peak, needs, phases, ledger and findings; the rest of the result stays empty. Errors: `bad_input`; `where`
/// stands for the path.
[[nodiscard]] Result<report::RunResult> stored_result(const std::string& run_json, const std::string& where);

}  // namespace ullage::cli
