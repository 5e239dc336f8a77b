// SPDX-License-Identifier: Apache-2.0
// `ullage operators`: times, calls and memory of each operator.
#include "apps/ullage/choice.hpp"
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/view.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"
#include "attribution/places.hpp"
#include "base/text.hpp"
#include "report/operators_view.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace ullage::cli {
namespace {

using ledger::Grouping;
using ledger::OperatorOrder;
using timeline::CallId;
using timeline::no_call;

constexpr std::array<std::string_view, 8> orders = {"self-memory", "memory", "largest", "self-cpu",
                                                    "cpu",         "device", "calls",   "name"};
constexpr std::array<std::string_view, 4> groupings = {"name", "shape", "module", "line"};

/// The texts of a grouping, call by call.
class Keys {
 public:
  Keys(const Evidence& evidence, const timeline::Trace& trace, Grouping grouping)
      : evidence_(evidence), trace_(trace), places_(trace), grouping_(grouping) {
    if (grouping == Grouping::line) learn_lines();
  }

  std::string operator()(CallId call) {
    switch (grouping_) {
      case Grouping::name:
        return {};
      case Grouping::shape:
        return std::string(trace_.strings.text(trace_.calls.shapes[call]));
      case Grouping::module:
        return module_of(call);
      case Grouping::line:
        return lines_[call];
    }
    return {};
  }

 private:
  std::string module_of(CallId call) {
    const CallId module = places_.of(call).module;
    if (module == no_call) return {};
    return std::string(attribution::dotted_name(trace_.strings.text(trace_.calls.name[module])));
  }

  /// A call's line is that of the first allocation in it that has one; else what the trace says.
  void learn_lines() {
    lines_.resize(trace_.calls.count());
    for (CallId call = 0; call < trace_.calls.count(); ++call) {
      const std::string_view stack = trace_.strings.text(trace_.calls.stack[call]);
      lines_[call] = stack.substr(0, stack.find(';'));
    }
    if (!evidence_.account) return;
    const auto& allocations = evidence_.account->allocations;
    const auto& calls = evidence_.account->calls;
    if (calls.empty()) return;
    for (timeline::AllocationId id = 0; id < allocations.count(); ++id) {
      const auto line = timeline::user_line(*evidence_.timeline, allocations.stack[id]);
      if (calls[id] == no_call || !line.outside_torch) continue;
      const auto& frame = evidence_.timeline->stacks.frame(*line.outside_torch);
      const std::string text =
          std::string(evidence_.timeline->strings.text(frame.file)) + ":" + std::to_string(frame.line);
      for (CallId call = calls[id]; call != no_call && lines_[call].empty(); call = trace_.calls.parent[call])
        lines_[call] = text;
    }
  }

  const Evidence& evidence_;
  const timeline::Trace& trace_;
  attribution::Places places_;
  Grouping grouping_;
  std::vector<std::string> lines_;
};

bool has_shapes(const timeline::Trace& trace) {
  return std::ranges::any_of(trace.calls.shapes, [](timeline::StringId shapes) { return shapes != 0; });
}

Result<ExitCode> print_operators(const Evidence& evidence, const Arguments& arguments) {
  const auto order = choice(arguments, "sort", orders);
  if (!order) return tl::unexpected(order.error());
  const auto grouping = choice(arguments, "group-by", groupings);
  if (!grouping) return tl::unexpected(grouping.error());
  const timeline::Trace* trace = trace_of(evidence);
  if (trace == nullptr)
    return fail(ErrorKind::bad_input, "no operators are recorded here", evidence.path,
                "a run directory with operators.json, or a trace of torch.profiler");
  if (static_cast<Grouping>(*grouping) == Grouping::shape && !has_shapes(*trace))
    return fail(ErrorKind::bad_input, "no input shapes are recorded here", evidence.path,
                "a rehearsal with '--operators shapes', or a trace of torch.profiler with record_shapes=True");
  report::OperatorsView view;
  view.source = evidence.path;
  view.producer = evidence.producer;
  view.group_by = groupings[*grouping];
  view.device = evidence.timeline != nullptr ? evidence.timeline->device : 0;
  Keys keys(evidence, *trace, static_cast<Grouping>(*grouping));
  view.table = ledger::operator_table(*trace, view.device, std::ref(keys));
  ledger::sort(view.table, static_cast<OperatorOrder>(*order));
  view.evidence = evidence_view(evidence);
  if (evidence.run) view.notes.push_back("CPU times are of this machine, while the run was recorded");
  if (evidence.trace && !evidence.trace->note.empty()) view.notes.push_back(evidence.trace->note);
  const std::size_t top = arguments.count("top").value_or(20);
  const std::string text =
      arguments.given("json") ? report::operators_json(view, top) : report::operators_text(view, top);
  const ExitCode code = evidence.quality.partial ? ExitCode::bad_input : ExitCode::yes;
  return print_result(text).map([code] { return code; });
}

Result<ExitCode> run_operators(const Arguments& arguments) {
  return open_one(arguments, "ullage operators").and_then([&](const auto& evidence) {
    return print_operators(*evidence, arguments);
  });
}

constexpr Flag operators_flags[] = {
    {"sort", "KEY", "self-memory, memory, largest, self-cpu, cpu, device, calls or name", FlagKind::text,
     "self-memory"},
    {"group-by", "WHAT", "one row per name, or per name and shape, module or line", FlagKind::text, "name"},
    {"top", "N", "show the first N rows; 0 shows all", FlagKind::count, "20"},
    store_flag,
    json_flag,
};

}  // namespace

const Command operators_command{
    "operators",
    "times, calls and memory of each operator of a run or trace",
    "RUN|FILE [FLAGS]",
    "RUN is a run directory, an id or its beginning, a name (its newest run), or @last; FILE a trace of "
    "torch.profiler.\n"
    "'allocated' is what the calls allocated, 'net' that less what they freed; 'self' is without the calls inside;\n"
    "'largest' is the largest single allocation.",
    {operators_flags, 1, false},
    run_operators};

}  // namespace ullage::cli
