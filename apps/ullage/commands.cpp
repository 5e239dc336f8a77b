// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/command.hpp"
#include "base/text.hpp"

#include <array>

namespace ullage::cli {

std::span<const Command* const> commands() {
  static constexpr std::array list{
      &rehearse_command, &record_command,  &plan_command,      &explain_command,   &ledger_command,  &operators_command,
      &findings_command, &diff_command,    &reconcile_command, &replay_command,    &convert_command, &runs_command,
      &show_command,     &trend_command,   &check_command,     &rm_command,        &store_command,   &gpus_command,
      &models_command,   &batches_command, &help_command,      &completion_command};
  return list;
}

Result<const Command*> find_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) {
    if (command->name == name) return command;
    names.push_back(command->name);
  }
  std::string hint = suggestion(name, names);
  if (hint.empty()) hint = "'ullage help' lists the commands";
  return fail(ErrorKind::usage, "unknown command", "'" + std::string(name) + "'", {}, hint);
}

}  // namespace ullage::cli
