// SPDX-License-Identifier: Apache-2.0
// Any bytes as a line of an exported store: a run whose line comes back, or an error that says something.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "store/json_lines.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ullage;
  const auto source = store::source_of({reinterpret_cast<const char*>(data), size});
  if (!source && source.error().what.empty()) std::abort();
  if (!source) return 0;
  const auto record = store::record_of(*source);
  if (!record) std::abort();
  const auto again = store::source_of(store::line_of(record->source));
  if (!again || again->id != source->id) std::abort();
  return 0;
}
