// SPDX-License-Identifier: Apache-2.0
// Any bytes: read as a device log.
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingest/run_directory/device_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto log = ullage::ingest::read_device_log(std::as_bytes(std::span(data, size)));
  if (log) (void)log->name(1);
  return 0;
}
