// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"

namespace ullage::ingest {

/// Replaces a file by a zstd frame of it under `target`, and removes it; on an error it stays as it was. Errors: `io`.
Result<void> compress_file(const std::string& path, const std::string& target);

}  // namespace ullage::ingest
