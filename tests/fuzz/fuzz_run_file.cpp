// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_file/run_file.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = ullage::ingest::read_run_file({reinterpret_cast<const char*>(data), size}, "run.yaml");
  if (read)
    for (const auto& setting : *read)
      if (setting.nested && !setting.values.empty()) __builtin_trap();
  return 0;
}
