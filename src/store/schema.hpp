// SPDX-License-Identifier: Apache-2.0
// The tables of the store, and how an older store gets them.
#pragma once

#include "base/result.hpp"
#include "store/database.hpp"

namespace ullage::store {

/// PRAGMA user_version of a store that this program writes.
[[nodiscard]] int schema_version();

/// Brings the tables up to schema_version(), in one transaction. Safe while others do the same. Errors: `io` for a
/// store of a newer program, for a database of somebody else, and what SQLite says.
[[nodiscard]] Result<void> migrate(Database& database);

}  // namespace ullage::store
