// SPDX-License-Identifier: Apache-2.0
#include "report/plan_view.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/ledger_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::report {
namespace {

std::string assumed_mark(const PlanSetup& setup, std::string_view flag) {
  return std::ranges::find(setup.assumed, flag) != setup.assumed.end() ? " (assumed)" : "";
}

std::string model_text(const PlanModel& model) {
  std::string text = model.architecture.empty() ? "" : fmt::format("{}: {}, ", model.name, model.architecture);
  text += grouped(model.parameters) + " parameters";
  if (model.trained > 0 && model.trained < model.parameters)
    text += fmt::format(", {} trained", grouped(model.trained));
  return text + (model.origin.empty() ? "\n" : "\n  from " + model.origin + "\n");
}

std::string setup_text(const PlanSetup& setup) {
  std::string text = fmt::format("{}{}, precision {}{}: {}\n", setup.train ? "training" : "inference",
                                 assumed_mark(setup, "mode"), setup.precision, assumed_mark(setup, "precision"),
                                 setup.train ? setup.precision_meaning : "weights alone");
  if (setup.train) {
    text +=
        fmt::format("optimizer {}{}: {}\n", setup.optimizer, assumed_mark(setup, "optimizer"), setup.optimizer_meaning);
    text += fmt::format("bookkeeping of {}{}: {}\n", setup.framework, assumed_mark(setup, "framework"), setup.source);
  }
  if (setup.ranks > 1)
    text += fmt::format("one of {} ranks, ZeRO stage {}: an estimate by closed form, without communication memory\n",
                        setup.ranks, setup.zero);
  return text;
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
  return items.empty() ? "" : fmt::format("{}: {}\n", title, join(items, ", "));
}

}  // namespace

std::string plan_text(const PlanView& view, bool explain) {
  std::string text = model_text(view.model) + setup_text(view.setup) + "\n";
  if (view.points.size() == 1) {
    const PlanPoint& point = view.points.front();
    text += headline(view, point) + "\n" + ledger_table(point.ledger);
  } else {
    text += "STATES NEED " + needed(view, view.points.front()) + "\n\n" + points_table(view);
  }
  if (explain) text += formulas_text(view);
  text +=
      "\nOnly states are planned yet: activations, temporaries, workspaces and the allocator's rounding are not in "
      "these numbers.\n"
      "'ullage rehearse' runs the script itself and says whether it fits.\n";
  text += list_text("assumed, for the configuration does not say", view.model.assumed);
  text += list_text("fields without effect on these numbers", view.model.ignored);
  return text;
}

}  // namespace ullage::report
