// SPDX-License-Identifier: Apache-2.0
// The dimensions in a model's config.json (Hugging Face's names, and the older ones of GPT-2, OPT, T5 ...).
#pragma once

#include <string>

#include "base/result.hpp"
#include "ingest/file/source.hpp"
#include "ingest/oom_message/request_size.hpp"

namespace ullage::ingest {

/// Reads only dimensions, nested ones (`text_config`) where the outer ones are missing. Errors: `bad_input` for what is
/// no JSON object, or one without hidden size.
Result<ModelDimensions> read_model_dimensions(Source& source);

}  // namespace ullage::ingest
