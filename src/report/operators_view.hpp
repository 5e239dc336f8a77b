// SPDX-License-Identifier: Apache-2.0
// The table of operators: what `ullage operators` prints.
#pragma once

#include "ledger/operator_table.hpp"
#include "report/ledger_view.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ullage::report {

struct OperatorsView {
  std::string source, producer;
  std::string group_by;  ///< name, shape, module, line
  int device = 0;
  ledger::OperatorTable table;  ///< sorted
  EvidenceView evidence;
  std::vector<std::string> notes;
};

/// The first `top` rows (0: all) and the total.
[[nodiscard]] std::string operators_text(const OperatorsView& view, std::size_t top);
/// docs/schemas/operators.schema.json.
[[nodiscard]] std::string operators_json(const OperatorsView& view, std::size_t top);

}  // namespace ullage::report
