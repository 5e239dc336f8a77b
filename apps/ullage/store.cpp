// SPDX-License-Identifier: Apache-2.0
// `ullage store`: makes the history anew, writes it out, reads it in.
#include "apps/ullage/choice.hpp"
#include "apps/ullage/command.hpp"
#include "apps/ullage/history/transfer.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace ullage::cli {
namespace {

constexpr std::size_t most_words = 1000;

struct Action {
  std::string_view name;
  Result<ExitCode> (*run)(const Arguments& arguments);
};

constexpr std::array actions = {Action{"rebuild", rebuild_store}, Action{"export", export_store},
                                Action{"import", import_store}};

Result<ExitCode> run_store(const Arguments& arguments) {
  const std::string word = arguments.positionals.empty() ? "" : arguments.positionals.front();
  const auto action = std::ranges::find(actions, word, &Action::name);
  if (action != actions.end()) return action->run(arguments);
  std::vector<std::string_view> names;
  for (const Action& one : actions) names.push_back(one.name);
  return fail(ErrorKind::usage, word.empty() ? "what is missing is an action" : "unknown action '" + word + "'",
              "ullage store", "rebuild, export or import", suggestion(word, names));
}

constexpr Flag store_flags[] = {
    {"force", "", "export: replace FILE when it is there", FlagKind::toggle},
    store_flag,
    json_flag,
};

}  // namespace

const Command store_command{
    "store",
    "make the history of runs anew from run directories, write it out, read it in",
    "rebuild [DIR...] | export FILE|- | import FILE|-",
    "rebuild  takes up every finished run below DIR (without DIR: below the folder where runs are kept); runs that "
    "the\n"
    "         history has and DIR has not stay in it. A damaged store is put aside, and a new one begun\n"
    "export   writes a line of JSON for each run, with its whole result\n"
    "import   reads such lines, of this machine or another",
    {store_flags, most_words, false},
    run_store};

}  // namespace ullage::cli
