// SPDX-License-Identifier: Apache-2.0
// What a subcommand is, and the list of all of them.
#pragma once

#include "apps/ullage/exit_code.hpp"
#include "apps/ullage/flags.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ullage::cli {

/// One subcommand: its own file defines it, commands() lists it; parsing, help and completion follow from it.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line, no full stop
  std::string_view usage;    ///< after the name: "[NAME]", "[FLAGS] -- COMMAND..."
  std::string_view details;  ///< paragraphs of help; may be empty
  Shape shape;
  Result<ExitCode> (*run)(const Arguments& arguments);
};

/// All subcommands, in the order of `ullage help`.
[[nodiscard]] std::span<const Command* const> commands();

/// The command of that name. Errors: `usage`, with a suggestion.
[[nodiscard]] Result<const Command*> find_command(std::string_view name);

/// Help text of one command, and of the whole program.
[[nodiscard]] std::string help_text(const Command& command);
[[nodiscard]] std::string help_text();

extern const Command rehearse_command;
extern const Command record_command;
extern const Command plan_command;
extern const Command explain_command;
extern const Command ledger_command;
extern const Command findings_command;
extern const Command diff_command;
extern const Command reconcile_command;
extern const Command replay_command;
extern const Command operators_command;
extern const Command convert_command;
extern const Command runs_command;
extern const Command show_command;
extern const Command trend_command;
extern const Command check_command;
extern const Command rm_command;
extern const Command store_command;
extern const Command gpus_command;
extern const Command models_command;
extern const Command batches_command;
extern const Command help_command;
extern const Command completion_command;

}  // namespace ullage::cli
