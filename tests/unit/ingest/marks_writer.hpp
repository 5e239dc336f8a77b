// SPDX-License-Identifier: Apache-2.0
// Writes marks.jsonl lines for tests.
#pragma once

#include <zlib.h>

#include <cstdio>
#include <string>

#include "timeline/block_replay.hpp"

namespace ullage::test {

inline std::string line(const std::string& record) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08lx",
                crc32(0, reinterpret_cast<const Bytef*>(record.data()), static_cast<uInt>(record.size())));
  return "{\"c\":\"" + std::string(digits) + "\",\"r\":" + record + "}\n";
}

inline std::string counters(std::uint64_t allocs, std::uint64_t frees, const timeline::Counters& c) {
  const auto n = [](std::uint64_t value) { return std::to_string(value); };
  return "\"allocs\":" + n(allocs) + ",\"frees\":" + n(frees) + ",\"allocated\":" + n(c.allocated) +
         ",\"reserved\":" + n(c.reserved) + ",\"requested\":" + n(c.requested) + ",\"active\":" + n(c.active) +
         ",\"peak_allocated\":" + n(c.allocated) + ",\"peak_reserved\":" + n(c.reserved);
}

inline std::string mark(int index, const std::string& name, int step, const std::string& counters_text) {
  return line("{\"kind\":\"mark\",\"index\":" + std::to_string(index) + ",\"name\":\"" + name +
              "\",\"step\":" + std::to_string(step) + ",\"micro_batch\":1,\"optimizer\":null," + counters_text + "}");
}

}  // namespace ullage::test
