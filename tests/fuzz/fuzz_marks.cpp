// SPDX-License-Identifier: Apache-2.0
// Any bytes as the records of a marks.jsonl. The checksums are made right here, so that the fuzzer gets past them.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/run_directory/run_facts.hpp"
#include "ledger/run_ledger.hpp"

namespace {

std::string with_checksums(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view record = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(record.size() + 1, text.size()));
    char digits[9];
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(record.data()), record.size());
    std::snprintf(digits, sizeof digits, "%08lx", crc);
    out.append("{\"c\":\"").append(digits).append("\",\"r\":").append(record).append("}\n");
  }
  return out;
}

void try_text(std::string_view text) {
  using namespace ullage;
  const ingest::RunFacts facts = ingest::read_run_facts(text);
  ledger::RunInput input;
  input.marks = facts.marks;
  input.lists = facts.lists;
  const auto result = ledger::build(input);
  if (result && !ledger::check(result->used).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_text(text);
  try_text(with_checksums(text));
  return 0;
}
