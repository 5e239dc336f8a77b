// SPDX-License-Identifier: Apache-2.0
#include "report/plan_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/ledger_table.hpp"
#include "report/text/plan_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace ullage::report {
namespace {

/// A chart without the lines deeper than `levels` below the accounts, which hold the most.
ledger::Line folded(ledger::Line line, std::size_t levels) {
  constexpr std::size_t most_lines = 6;
  const bool account = line.id != "used" && line.id != "reserved";
  if (account && levels == 0) line.children.clear();
  if (account && line.children.size() > most_lines) {
    ledger::Line rest{line.id + ".rest",
                      fmt::format("{} more", line.children.size() - most_lines),
                      0,
                      ledger::KnownBy::derived,
                      {},
                      {},
                      0};
    for (std::size_t i = most_lines; i < line.children.size(); ++i) rest.bytes += line.children[i].bytes;
    line.children.resize(most_lines);
    line.children.push_back(std::move(rest));
  }
  for (ledger::Line& child : line.children) child = folded(std::move(child), account ? levels - 1 : levels);
  return line;
}

std::string assumed_mark(const PlanSetup& setup, std::string_view flag) {
  return std::ranges::find(setup.assumed, flag) != setup.assumed.end() ? " (assumed)" : "";
}

std::string model_text(const PlanModel& model, const PlanSetup& setup) {
  std::string text = model.architecture.empty() ? ""
                                                : fmt::format("{}{}: {}, ", printable(model.name, false),
                                                              assumed_mark(setup, "family"), model.architecture);
  text += grouped(model.parameters) + " parameters";
  if (model.trained > 0 && model.trained < model.parameters)
    text += fmt::format(", {} trained", grouped(model.trained));
  return text + (model.origin.empty() ? "\n" : "\n  from " + printable(model.origin, false) + "\n");
}

std::string step_setup_text(const PlanSetup& setup) {
  std::string text = fmt::format("attention {}{}", setup.attention, assumed_mark(setup, "attention"));
  if (!setup.checkpoint.empty())
    text += fmt::format(", checkpointing {}{}", setup.checkpoint, assumed_mark(setup, "checkpoint"));
  if (setup.accumulate > 1) text += fmt::format(", {} micro batches a step", setup.accumulate);
  if (setup.padding) text += ", batches with padding";
  return text + (setup.keep_gradients ? ", gradients kept\n" : "\n");
}

std::string inference_text(const PlanSetup& setup) {
  if (setup.attention.empty()) return "weights alone";
  if (setup.cache == 0) return "forward passes under no_grad, without a KV cache";
  return fmt::format("the sequence at once, then token by token until the KV cache holds {}", grouped(setup.cache));
}

std::string ranks_text(const PlanSetup& setup) {
  return fmt::format(
      "one of {} ranks, ZeRO stage {}: {}, an estimate; communication is in no number\n",
      setup.ranks > 1 ? grouped(setup.ranks) : "several", setup.zero,
      setup.attention.empty() ? "its states by closed form" : "its whole step, shared tensors cut evenly");
}

std::string setup_text(const PlanSetup& setup) {
  std::string text = fmt::format("{}{}, precision {}{}: {}\n", setup.train ? "training" : "inference",
                                 assumed_mark(setup, "mode"), setup.precision, assumed_mark(setup, "precision"),
                                 setup.train ? setup.precision_meaning : inference_text(setup));
  if (setup.train) {
    text +=
        fmt::format("optimizer {}{}: {}\n", setup.optimizer, assumed_mark(setup, "optimizer"), setup.optimizer_meaning);
    text += fmt::format("bookkeeping of {}{}: {}\n", setup.framework, assumed_mark(setup, "framework"), setup.source);
  }
  if (!setup.freeze.empty()) text += fmt::format("not trained: {}\n", printable(join(setup.freeze, ", "), false));
  if (!setup.attention.empty()) text += step_setup_text(setup);
  return setup.ranks > 1 || setup.fit == "world" ? text + ranks_text(setup) : text;
}

/// "104.31 GiB (112.00 GB; 16.00 bytes a parameter)".
std::string needed(const PlanView& view, const PlanPoint& point) {
  const std::uint64_t states = ledger::find(point.ledger, "reserved")->bytes;
  const auto number = static_cast<double>(states);
  const std::string each = view.model.parameters > 0 ? fmt::format("; {:.2f} bytes a parameter",
                                                                   number / static_cast<double>(view.model.parameters))
                                                     : "";
  return fmt::format("{} ({:.2f} GB{})", format_bytes(states), number / 1e9, each);
}

std::string bound_text(const PlanView& view, const PlanPoint& point) {
  const std::string kept = view.reserve_bytes > 0 ? format_bytes(view.reserve_bytes) + " kept free, " : "";
  const std::string of = fmt::format("with the context {} of {} ({})", format_bytes(point.at_least),
                                     format_bytes(point.device->capacity_bytes), point.device->short_name);
  if (point.fits_not) return fmt::format("{}: {}{} too much", of, kept, format_bytes(point.missing));
  const std::string at_best = point.at_best == "tight"
                                  ? fmt::format("tight (less than {:.0f} % left)", 100 * view.headroom)
                                  : std::string("a fit");
  return fmt::format("{}; {}left for activations: {} ({:.1f} %), at best {}", of, kept, format_bytes(point.left),
                     100 * point.left_fraction, at_best);
}

std::string headline(const PlanView& view, const PlanPoint& point) {
  std::string text = point.fits_not ? "DOES NOT FIT: the states alone need " : "STATES NEED ";
  text += needed(view, point) + "\n";
  if (!point.device) return text;
  text += "  " + bound_text(view, point) + "\n";
  if (!point.device->form_factor_note.empty()) text += "  " + point.device->form_factor_note + "\n";
  return text;
}

std::string verdict_text(const PlanStep& step) {
  return step.verdict == "oom" ? "DOES NOT FIT" : step.verdict == "tight" ? "TIGHT" : "FITS";
}

/// ", and only because PyTorch gives cached memory back 4 times", and what it would have been.
std::string retries_text(const PlanStep& step, std::uint64_t without_limit) {
  return fmt::format(
      ", and only because PyTorch gives cached memory back {}\n"
      "  without a limit it would take {}, as everything below says\n",
      step.retries == 1 ? "once" : fmt::format("{} times", step.retries), format_bytes(without_limit));
}

/// FITS: micro batch 4, sequence 1024 needs 33.10 GiB of 39.39 GiB (a100-40gb), 16.0 % left.
std::string step_headline(const PlanView& view, const PlanPoint& point) {
  const PlanStep& step = *point.step;
  const bool given_back = step.with_limit > 0;
  std::string text = fmt::format("{}: micro batch {}, sequence {} {} {} of {} ({})", verdict_text(step),
                                 step.micro_batch, step.sequence, given_back ? "takes" : "needs",
                                 format_bytes(given_back ? step.with_limit : point.at_least),
                                 format_bytes(point.device->capacity_bytes), point.device->short_name);
  if (view.reserve_bytes > 0) text += fmt::format(", {} kept free", format_bytes(view.reserve_bytes));
  text += given_back ? retries_text(step, point.at_least)
          : step.verdict == "oom"
              ? fmt::format(", {} too much\n", format_bytes(point.missing))
              : fmt::format(", {} ({:.1f} %) left\n", format_bytes(point.left), 100 * point.left_fraction);
  if (step.shortage)
    text += fmt::format("  the first request without memory: {} in {}\n", format_bytes(step.shortage->requested),
                        where_text(step.shortage->moment));
  text += fmt::format("  most allocated: {} in {}\n", format_bytes(step.peak_allocated), where_text(step.allocated_at));
  text += fmt::format("  most reserved: {} from {}\n", format_bytes(step.peak_reserved), where_text(step.reserved_at));
  return point.device->form_factor_note.empty() ? text : text + "  " + point.device->form_factor_note + "\n";
}

/// "2", or "2 to 7169".
std::string steps_of(const PlanPhase& phase) {
  if (phase.step == 0) return {};
  return phase.last_step > phase.step ? fmt::format("{} to {}", phase.step, phase.last_step)
                                      : std::to_string(phase.step);
}

std::string phases_table(const PlanStep& step) {
  Table table({{"step", Align::right},
               {"phase"},
               {"most allocated", Align::right},
               {"most reserved", Align::right},
               {"allocated at its end", Align::right}});
  for (const PlanPhase& phase : step.phases)
    table.add({steps_of(phase),
               phase.micro_batch > 1 ? fmt::format("{} {}", phase.phase, phase.micro_batch) : phase.phase,
               format_bytes(phase.peak_allocated), format_bytes(phase.peak_reserved), format_bytes(phase.allocated)});
  return "\nPHASES\n" + table.text();
}

/// Of a step, or of the last token.
std::string time_cell(const PlanStep& step) {
  if (step.generation) return "~" + seconds_text(step.generation->last_token.value);
  return step.cost ? "~" + seconds_text(step.cost->time.step.value) : "";
}

/// With a star where it is so little because cached memory is given back.
std::string needs_cell(std::uint64_t needed, std::uint64_t with_limit) {
  return with_limit > 0 ? format_bytes(with_limit) + "*" : format_bytes(needed);
}

/// Below a table with stars.
std::string star_text(std::uint64_t most_without_limit) {
  if (most_without_limit == 0) return {};
  return fmt::format("* passes only because PyTorch gives cached memory back; without a limit it would take {}\n",
                     format_bytes(most_without_limit));
}

std::string hours_cell(const PlanStep& step) {
  return step.cost && step.cost->time.training ? "~" + gpu_hours_text(step.cost->time) : "";
}

std::vector<Table::Column> step_columns(const PlanView& view) {
  const bool fit = !view.setup.fit.empty();
  std::vector<Table::Column> columns = {{"GPU"},
                                        {"memory", Align::right},
                                        {!fit                        ? "micro batch"
                                         : view.setup.fit == "world" ? "smallest world"
                                                                     : "largest " + view.setup.fit,
                                         Align::right},
                                        {"sequence", Align::right},
                                        {"needs", Align::right},
                                        {"left", Align::right},
                                        {view.setup.cache > 0 ? "last token" : "step time", Align::right}};
  if (view.envelope) columns.push_back({"GPU-hours", Align::right});
  columns.push_back({"verdict"});
  return columns;
}

std::vector<std::string> step_row(const PlanView& view, const PlanPoint& point) {
  const PlanStep& step = *point.step;
  const bool fit = !view.setup.fit.empty(), refused = !step.refused.empty();
  const std::uint64_t value = fit ? step.fit_value.value_or(0) : step.micro_batch;
  std::vector<std::string> row = {point.device->short_name, format_bytes(point.device->capacity_bytes),
                                  value > 0        ? std::to_string(value)
                                  : fit && refused ? ""
                                                   : "none",
                                  std::to_string(step.sequence)};
  if (refused)
    row.insert(row.end(), {"", "", ""});
  else
    row.insert(row.end(),
               {needs_cell(point.at_least, step.with_limit),
                point.fits_not ? "-" + format_bytes(point.missing) : format_bytes(point.left), time_cell(step)});
  if (view.envelope) row.push_back(hours_cell(step));
  row.push_back(refused ? "not planned: " + step.refused : step.verdict == "oom" ? "does not fit" : step.verdict);
  return row;
}

std::string step_table(const PlanView& view) {
  Table table(step_columns(view));
  std::uint64_t without_limit = 0;
  for (const PlanPoint& point : view.points) {
    table.add(step_row(view, point));
    if (point.step->with_limit > 0) without_limit = std::max(without_limit, point.at_least);
  }
  return table.text() + star_text(without_limit);
}

/// What the neighbour of the found value says.
std::string next_text(const PlanStep& step) {
  if (!step.fit_next) return {};
  const PlanNextValue& next = *step.fit_next;
  if (!next.refused.empty()) return fmt::format("; not for memory: {} is refused, {}", next.value, next.refused);
  return fmt::format(" ({} needs {})", next.value, format_bytes(next.needed));
}

std::string fit_text(const PlanView& view, const PlanPoint& point) {
  if (view.setup.fit.empty()) return {};
  const bool world = view.setup.fit == "world";
  if (*point.step->fit_value == 0 && world)
    return fmt::format("NOT EVEN {} RANKS FIT with {:.0f} % headroom\n", grouped(view.setup.ranks),
                       100 * view.headroom);
  if (*point.step->fit_value == 0)
    return fmt::format("NOT EVEN ONE {} FITS with {:.0f} % headroom\n", view.setup.fit, 100 * view.headroom);
  if (point.step->fit_stopped)
    return fmt::format("{} {} FITS with {:.0f} % headroom, the most that --fit tries: a larger one may fit too\n",
                       view.setup.fit, *point.step->fit_value, 100 * view.headroom);
  return fmt::format("{} {} THAT FITS with {:.0f} % headroom: {}{}\n", world ? "SMALLEST" : "LARGEST", view.setup.fit,
                     100 * view.headroom, *point.step->fit_value, next_text(*point.step));
}

std::string steps_text(const PlanView& view) {
  if (view.points.size() > 1) return step_table(view);
  const PlanPoint& point = view.points.front();
  return fit_text(view, point) + step_headline(view, point) + "\n" + ledger_table(folded(point.ledger, 2)) +
         phases_table(*point.step) + (point.step->generation ? generation_text(*point.step->generation) : "") +
         (point.step->cost ? cost_text(*point.step->cost, view.envelope ? view.envelope->tokens : 0) : "");
}

std::string changes_text(const PlanView& view) {
  if (view.changes.empty()) return {};
  Table table({{"change"}, {"needs", Align::right}, {"saves", Align::right}, {"step time", Align::right}, {"verdict"}});
  std::uint64_t without_limit = 0;
  for (const PlanChange& change : view.changes) {
    if (change.with_limit > 0) without_limit = std::max(without_limit, change.needed);
    table.add({change.change, needs_cell(change.needed, change.with_limit),
               (change.saved < 0 ? "-" : "") + format_bytes(static_cast<std::uint64_t>(std::abs(change.saved))),
               change.seconds ? seconds_text(*change.seconds) : "",
               change.verdict == "oom" ? "does not fit" : change.verdict});
  }
  return "\nWHAT IF, one change at a time\n" + table.text() + star_text(without_limit);
}

std::string why_text(const PlanRule& rule, bool too_high) {
  if (!too_high) return "misses " + rule.misses;
  return rule.counts.empty() ? "counts more than is there at once" : "counts " + join(rule.counts, "; ");
}

std::string rules_text(const PlanView& view) {
  if (view.rules.empty()) return {};
  const auto planned = static_cast<double>(view.points.front().at_least);
  Table table({{"rule"}, {"says", Align::right}, {"against the plan", Align::right}, {"formula"}, {"why"}});
  for (const PlanRule& rule : view.rules)
    table.add({rule.name, format_bytes(static_cast<std::uint64_t>(rule.bytes)),
               fmt::format("{:+.0f} %", 100 * (rule.bytes / planned - 1)), rule.formula,
               why_text(rule, rule.bytes > planned)});
  return "\nPOPULAR RULES beside it\n" + table.text();
}

std::string points_table(const PlanView& view) {
  Table table({{"GPU"},
               {"memory", Align::right},
               {"states and context", Align::right},
               {"left for activations", Align::right},
               {"verdict"}});
  for (const PlanPoint& point : view.points)
    table.add({point.device->short_name, format_bytes(point.device->capacity_bytes), format_bytes(point.at_least),
               point.fits_not ? "-" + format_bytes(point.missing) : format_bytes(point.left),
               point.fits_not ? "does not fit" : "at best " + point.at_best});
  return table.text();
}

std::string formulas_text(const PlanView& view) {
  Table table({{"line"}, {"formula"}, {"there from"}});
  for (const PlanFormula& formula : view.formulas) table.add({formula.line, formula.text, formula.appears});
  return "\nHOW THE LINES COME ABOUT\n" + table.text();
}

std::string list_text(std::string_view title, const std::vector<std::string>& items) {
  return items.empty() ? "" : fmt::format("{}: {}\n", printable(title, false), printable(join(items, ", "), false));
}

std::string run_file_text(const PlanRunFile& file) {
  if (file.path.empty() || !file.training_arguments) return {};
  return list_text(file.path + ": not planned, and would change the numbers", file.unplanned) +
         list_text(file.path + ": not read", file.ignored);
}

/// What was found of reserved memory and, by the rule of three, how many other plans may be further off.
std::string drawn_text(const DrawnPlans& drawn) {
  const std::string found = drawn.most_off > 0
                                ? fmt::format("reserved what was planned within {:.1f} %", 100 * drawn.most_off)
                                : "reserved exactly what was planned";
  return fmt::format(
      "{} such loops were drawn at random, planned, and rehearsed: each {}.\n"
      "So many without an exception say, with 95 % confidence: of other such loops fewer than 1 in {} is an "
      "exception.\n",
      drawn.count, found, drawn.count / 3);
}

std::string loop_text(const PlanSetup& setup) {
  std::string text =
      fmt::format("\nPlanned is a plain PyTorch loop over {}; 'ullage rehearse' runs the script itself.\n",
                  setup.padding ? "sequences with padding" : "full sequences");
  if (const auto drawn = drawn_like(setup)) text += drawn_text(*drawn);
  return text;
}

}  // namespace

std::optional<DrawnPlans> drawn_like(const PlanSetup& setup) {
  if (!setup.train || setup.attention.empty() || setup.ranks > 1 || setup.fit == "world" || setup.keep_gradients ||
      !setup.freeze.empty() || setup.optimizer == "adamw-8bit" || setup.checkpoint.starts_with("every"))
    return std::nullopt;
  constexpr unsigned each_draw = 300;
  const bool second = setup.padding || setup.attention == "flash" || setup.optimizer == "adafactor";
  return DrawnPlans{second ? each_draw : 2 * each_draw, 0};
}

std::string where_text(const PlanMoment& moment) {
  std::string text = moment.step > 0 ? fmt::format("step {} {}", moment.step, moment.phase) : moment.phase;
  if (!moment.module.empty()) text += ", " + moment.module;
  return moment.operation.empty() ? text : text + fmt::format(" ({})", moment.operation);
}

std::string plan_text(const PlanView& view, bool explain) {
  std::string text = model_text(view.model, view.setup) + setup_text(view.setup) + "\n";
  if (view.points.front().step) {
    text += steps_text(view) + changes_text(view) + rules_text(view);
  } else if (view.points.size() == 1) {
    const PlanPoint& point = view.points.front();
    text += headline(view, point) + "\n" + ledger_table(point.ledger);
  } else {
    text += "STATES NEED " + needed(view, view.points.front()) + "\n\n" + points_table(view);
  }
  if (view.envelope) text += envelope_text(*view.envelope);
  if (explain) text += formulas_text(view);
  text += view.points.front().step ? loop_text(view.setup)
                                   : "\nThese are states alone; --seq N plans a whole step, with activations and all "
                                     "that PyTorch reserves.\n";
  text += run_file_text(view.run_file);
  text += list_text("assumed, for the configuration does not say", view.model.assumed);
  text += list_text("fields without effect on these numbers", view.model.ignored);
  return text;
}

}  // namespace ullage::report
