// SPDX-License-Identifier: Apache-2.0
// After a failed request: the last run of the same script that fitted, and what is different now.
#pragma once

#include "apps/ullage/evidence/evidence.hpp"
#include "report/explain_view.hpp"

#include <optional>

namespace ullage::cli {

/// Nothing where no request failed, the script is not known, or the history has no such run. The script is the file's
/// name: of the command of a run, of the outermost line of code in a snapshot, of the first traceback in a text.
[[nodiscard]] std::optional<report::LastFit> last_fit(const Evidence& evidence, const report::ExplainView& view);

}  // namespace ullage::cli
