// SPDX-License-Identifier: Apache-2.0
#include "report/text/run_result.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::report {
namespace {

/// What makes every number below doubtful stands first.
std::string shape_warning(const RunResult& r) {
  for (const auto& use : r.policies)
    if (use.policy == "mask-all")
      return fmt::format("A SHAPE DEPENDED ON VALUES THAT NOTHING COMPUTED: {} ({})\n\n", printable(use.line, false),
                         printable(use.text, false));
  return {};
}

std::string device_lines(const RunResult& r) {
  const auto& context = r.device.context;
  std::string text =
      fmt::format("{} ({}), {} as CUDA shows it; the context takes about {} of it ({}, {} to {})\n", r.device.name,
                  r.device.short_name, format_bytes(r.device.capacity_bytes), format_bytes(context.bytes),
                  context.known_by, format_bytes(context.low), format_bytes(context.high));
  if (!r.device.form_factor_note.empty()) text += r.device.form_factor_note + "\n";
  if (!r.stack.torch.empty())
    text += fmt::format("torch {}, CUDA {}, Python {}\n", r.stack.torch, r.stack.cuda, r.stack.python);
  return text;
}

std::string needs_line(const RunResult& r) {
  if (r.needed_bytes) {
    std::string of;
    if (r.needed_reserved_bytes)
      of = fmt::format(" ({} reserved by PyTorch, the rest is context)", format_bytes(*r.needed_reserved_bytes));
    return fmt::format("needs {}{}", format_bytes(*r.needed_bytes), of);
  }
  if (r.needed_at_least_bytes) return fmt::format("needs at least {}", format_bytes(*r.needed_at_least_bytes));
  return "what it needs is not known";
}

std::string headroom_line(const RunResult& r) {
  if (r.missing_bytes > 0) return fmt::format("{} more than the device has", format_bytes(r.missing_bytes));
  return fmt::format("headroom {} ({:.1f} %)", format_bytes(r.headroom_bytes), 100 * r.headroom_fraction);
}

std::string oom_lines(const RunResult& r) {
  std::string text;
  for (const auto& oom : r.ooms) {
    const std::string step = oom.step > 0 ? fmt::format("step {} ", oom.step) : "";
    text += fmt::format("  out of memory in {}{}: {} requested{}\n", step, printable(oom.phase, false),
                        format_bytes(oom.requested_bytes), oom.caught ? "; the script caught it and went on" : "");
    if (!oom.module.empty()) text += fmt::format("    module {}\n", printable(oom.module, false));
    if (!oom.line.empty()) text += fmt::format("    line   {}\n", printable(oom.line, false));
    if (!oom.text.empty()) text += fmt::format("    PyTorch: {}\n", printable(oom.text, false));
  }
  return text;
}

/// A run that was stopped early may not have come to what needs most.
std::string not_included(const RunResult& r) {
  const bool stopped = !r.stop_reason.empty();
  const bool evaluation = std::find(r.not_seen.begin(), r.not_seen.end(), "evaluation") != r.not_seen.end();
  if (!stopped || !evaluation || r.verdict == "oom") return {};
  return "  not included: an evaluation that comes later, should it need more than a training step (--steps all shows "
         "it)\n";
}

/// Further lines of a message must not pass for those of the report.
std::string indented(std::string_view text) {
  std::string out;
  for (const char c : trim(text)) out += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return out;
}

std::string failed_line(const RunResult& r) {
  std::string text = fmt::format("FAILED: the script failed with status {}", r.script_exit_code.value_or(-1));
  if (r.exception) text += fmt::format(": {}: {}", printable(r.exception->type, false), indented(r.exception->text));
  if (r.needed_at_least_bytes) text += fmt::format("\n  it used {} until then", format_bytes(*r.needed_at_least_bytes));
  return text + "\n";
}

/// The verdict is of the steps that were made: one that grows needs more with every further one.
std::string growth_lines(const RunResult& r) {
  std::string text;
  for (const auto& finding : r.found.findings) {
    if (finding.grows)
      text += fmt::format("  STILL GROWING: {}; further steps need more\n", printable(finding.title, false));
  }
  return text;
}

std::string verdict_lines(const RunResult& r) {
  if (r.verdict == "failed") return failed_line(r) + oom_lines(r);
  if (r.verdict == "timeout")
    return fmt::format("TIME LIMIT: ended with {} steps made (--time-limit allows more)\n", r.steps) + oom_lines(r);
  const std::string word = r.verdict == "oom" ? "DOES NOT FIT" : r.verdict == "tight" ? "TIGHT" : "FITS";
  const bool squeezed = r.verdict != "oom" && r.peak && r.needed_bytes.value_or(0) > r.peak->used;
  const std::string need = squeezed ? fmt::format("{} used at the peak", format_bytes(r.peak->used)) : needs_line(r);
  std::string text = fmt::format("{}: {}; {}\n", word, need, headroom_line(r));
  if (r.reserve_bytes > 0) text += fmt::format("  {} are kept back (--reserve)\n", format_bytes(r.reserve_bytes));
  return text + growth_lines(r) + not_included(r) + oom_lines(r);
}

/// A verdict of its own: the device's does not change.
std::string host_warning(const RunResult& r) {
  if (!r.host_memory || r.host_memory->fits) return {};
  return fmt::format("  HOST MEMORY DOES NOT FIT: about {} of {}{}\n", format_bytes(r.host_memory->needed_bytes),
                     format_bytes(r.host_memory->capacity_bytes),
                     r.host_memory->capacity_given ? "" : " (this machine; --host-memory names another)");
}

std::string cards_lines(const RunResult& r) {
  if (r.cards.empty()) return {};
  std::vector<std::string> fits, tight;
  for (const auto& card : r.cards) {
    const std::string name = card.short_name + (card.estimated ? "*" : "");
    if (card.fits) (card.tight ? tight : fits).push_back(name);
  }
  std::string text = "\nCARDS\n";
  text += "fits:  " + (fits.empty() ? std::string("none of the catalogue") : join(fits, " ")) + "\n";
  if (!tight.empty()) text += "tight: " + join(tight, " ") + "\n";
  return text + "* estimated: another architecture chooses other kernels and workspaces\n";
}

std::string steps_line(const RunResult& r) {
  if (r.stop_reason == "pattern")
    return "no optimizer that PyTorch knows: judged by its repeating backward passes (ullage.step() marks a step)\n";
  if (r.steps == 0) return "no optimizer step was seen; the run is judged as one phase\n";
  const std::string why = r.stop_reason == "auto-steady"  ? "then the peaks had stopped growing"
                          : r.stop_reason == "auto-limit" ? "the most that 'auto' makes"
                          : r.stop_reason == "steps"      ? "as asked"
                                                          : "to the script's own end";
  return fmt::format("{} step{}: {}\n", r.steps, r.steps == 1 ? "" : "s", why);
}

}  // namespace

std::string verdict_text(const RunResult& result) {
  return verdict_lines(result);
}

std::string result_text(const RunResult& result) {
  return shape_warning(result) + device_lines(result) + steps_line(result) + "\n" + verdict_lines(result) +
         host_warning(result) + phases_section(result) + ledger_section(result) + findings_section(result.found) +
         workspaces_section(result) + cards_lines(result) + storage_copies_section(result) + transfers_section(result) +
         inputs_section(result) + host_section(result) + compiler_section(result) + files_section(result) +
         honesty_section(result) + fmt::format("\nrun directory: {}\n", printable(result.run_directory, false));
}

}  // namespace ullage::report
