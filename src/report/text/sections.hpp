// SPDX-License-Identifier: Apache-2.0
// The sections of the text report; each is empty when there is nothing to say.
#pragma once

#include "report/run_result.hpp"

#include <string>

namespace ullage::report {

[[nodiscard]] std::string phases_section(const RunResult& result);
[[nodiscard]] std::string ledger_section(const RunResult& result);
[[nodiscard]] std::string workspaces_section(const RunResult& result);
[[nodiscard]] std::string transfers_section(const RunResult& result);
[[nodiscard]] std::string storage_copies_section(const RunResult& result);
[[nodiscard]] std::string host_section(const RunResult& result);
[[nodiscard]] std::string inputs_section(const RunResult& result);
[[nodiscard]] std::string compiler_section(const RunResult& result);
[[nodiscard]] std::string files_section(const RunResult& result);
[[nodiscard]] std::string honesty_section(const RunResult& result);

}  // namespace ullage::report
