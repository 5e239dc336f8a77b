// SPDX-License-Identifier: Apache-2.0
// Any bytes as a log: every message read has intervals in order, and a diagnosis.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ingest/oom_message/diagnosis.hpp"
#include "ingest/oom_message/oom_log.hpp"
#include "ingest/oom_message/request_size.hpp"

namespace {

void check(const std::optional<ullage::ingest::PrintedSize>& size) {
  if (size && (size->low > size->bytes || size->bytes > size->high)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ullage::ingest;
  auto source = Source::of(std::as_bytes(std::span(data, size)), "fuzz");
  const OomLog log = read_oom_log(source);
  if (!source.compressed() && log.bytes != size) std::abort();
  for (const OomMessage& message : log.messages) {
    for (const auto& value : {message.requested, message.capacity, message.allocated, message.free, message.in_use,
                              message.limit, message.reserved(), message.private_pools})
      check(value);
    if (diagnose(message).reason.empty()) std::abort();
    for (const StatedNumber& number : log.stated.used(message.line))
      if (number.line >= message.line) std::abort();
    const ModelDimensions stated = log.stated.model(message.line).value_or(ModelDimensions{});
    if (message.requested)
      (void)request_candidates(*message.requested, stated, log.stated.micro_batch(message.line),
                               log.stated.sequence(message.line));
    const ModelDimensions model{4096, 32, 8, 128, 32, 128256, 14336, true, false};
    if (message.requested) (void)request_candidates(*message.requested, model, 4, 4096);
  }
  return 0;
}
