// SPDX-License-Identifier: Apache-2.0
// `ullage models`: the catalogue of models, as a table or in detail.
#include "apps/ullage/command.hpp"
#include "apps/ullage/output.hpp"
#include "apps/ullage/planning/catalogue_view.hpp"

#include <fmt/format.h>

namespace ullage::cli {
namespace {

Result<std::string> text_of(const Arguments& arguments) {
  const bool json = arguments.given("json");
  if (arguments.positionals.empty()) return json ? models_json(model::catalogue()) : model_table(model::catalogue());
  const std::string& name = arguments.positionals.front();
  const model::CatalogueEntry* entry = model::find_in_catalogue(name);
  if (entry == nullptr)
    return fail(ErrorKind::usage, "no such model in the catalogue", "'" + name + "'",
                "a short name, or an id of the Hugging Face hub", model::catalogue_suggestion(name));
  return json ? models_json({entry, 1}) : model_details(*entry);
}

Result<ExitCode> run_models(const Arguments& arguments) {
  return text_of(arguments).and_then([](const std::string& text) { return print_result(text); }).map([] {
    return ExitCode::yes;
  });
}

constexpr Flag flags[] = {json_flag};

}  // namespace

const Command models_command{"models",
                             "list the models that 'ullage plan' knows by name, or show one with its configuration",
                             "[NAME] [FLAGS]",
                             "NAME is a short name such as llama-3.1-8b, or an id of the Hugging Face hub. Others are "
                             "planned from their config.json.",
                             {flags, 1, false},
                             run_models};

}  // namespace ullage::cli
