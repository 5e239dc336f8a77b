// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/kineto.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include "ingest/kineto/kineto_events.hpp"
#include "ingest/kineto/text_stream.hpp"

namespace ullage::ingest {

namespace {

constexpr unsigned parse_flags =
    rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag | rapidjson::kParseNanAndInfFlag;

struct Parsed {
  KinetoTrace trace;
  rapidjson::ParseResult status;
  bool saw_events = false;
};

Parsed parse(Source& source, const KinetoOptions& options, bool repair) {
  Parsed result;
  TextStream stream(source, repair);
  KinetoEvents events(result.trace, options);
  rapidjson::Reader reader;
  result.status = reader.Parse<parse_flags>(stream, events);
  result.saw_events = events.saw_events();
  result.trace.repaired = stream.repaired();
  return result;
}

bool breaks_off(const rapidjson::ParseResult& status, const Source& source) {
  return status.IsError() && !source.damage();
}

Error broken(const rapidjson::ParseResult& status, const std::string& name) {
  return {ErrorKind::bad_input,
          std::string("the trace is no JSON any more: ") + rapidjson::GetParseError_En(status.Code()),
          name + ", byte " + std::to_string(status.Offset()), "the events of torch.profiler's export_chrome_trace",
          "the file may have been cut short while it was written or copied"};
}

Result<KinetoTrace> finish(Parsed parsed, const Source& source) {
  KinetoTrace& trace = parsed.trace;
  if (source.damage()) {
    trace.damage = source.damage();
  } else if (parsed.status.IsError()) {
    trace.damage = broken(parsed.status, source.name());
  }
  if (!parsed.saw_events || (trace.damage && trace.events == 0)) {
    if (trace.damage) return tl::unexpected<Error>(*trace.damage);
    return fail(ErrorKind::bad_input, "this JSON is no trace", source.name(), "an object with traceEvents",
                "export one with torch.profiler's export_chrome_trace");
  }
  timeline::link(trace.trace);
  return std::move(trace);
}

}  // namespace

bool looks_like_kineto(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos) return false;
  if (head[first] == '[') return head.find("\"ph\"") != head.npos;
  return head[first] == '{' &&
         (head.find("\"traceEvents\"") != head.npos || head.find("\"schemaVersion\"") != head.npos ||
          head.find("\"deviceProperties\"") != head.npos);
}

Result<KinetoTrace> read_kineto(const std::function<Result<Source>()>& open, const KinetoOptions& options) {
  auto source = open();
  if (!source) return tl::unexpected<Error>(source.error());
  Parsed parsed = parse(*source, options, false);
  if (!breaks_off(parsed.status, *source)) return finish(std::move(parsed), *source);
  auto again = open();
  if (!again) return finish(std::move(parsed), *source);
  Parsed repaired = parse(*again, options, true);
  const bool better = repaired.trace.events > parsed.trace.events || !repaired.status.IsError();
  return better ? finish(std::move(repaired), *again) : finish(std::move(parsed), *source);
}

Result<KinetoTrace> read_kineto_file(const std::string& path, const KinetoOptions& options) {
  return read_kineto([&] { return Source::open(path); }, options);
}

Result<KinetoTrace> read_kineto(std::span<const std::byte> bytes, const std::string& name,
                                const KinetoOptions& options) {
  return read_kineto([&]() -> Result<Source> { return Source::of(bytes, name); }, options);
}

}  // namespace ullage::ingest
