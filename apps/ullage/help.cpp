// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/command.hpp"
#include "apps/ullage/output.hpp"
#include "base/text.hpp"

namespace ullage::cli {
namespace {

Result<ExitCode> run_help(const Arguments& arguments) {
  if (arguments.positionals.empty()) return print_result(help_text()).map([] { return ExitCode::yes; });
  return find_command(arguments.positionals.front()).and_then([](const Command* command) {
    return print_result(help_text(*command)).map([] { return ExitCode::yes; });
  });
}

}  // namespace

const Command help_command{"help", "explain a command", "[COMMAND]", "", {{}, 1, false}, run_help};

std::string help_text(const Command& command) {
  const std::string usage = command.usage.empty() ? "" : " " + std::string(command.usage);
  std::string text = "usage: ullage " + std::string(command.name) + usage + "\n\n";
  text += std::string(command.summary) + "\n\n";
  if (!command.details.empty()) text += std::string(command.details) + "\n\n";
  return text + "flags:\n" + describe_flags(command.shape.flags);
}

std::string help_text() {
  Table table({{"", Align::left}, {"", Align::left}});
  for (const Command* command : commands()) {
    table.add({"  " + std::string(command->name), std::string(command->summary)});
  }
  return "usage: ullage COMMAND [FLAGS] ...\n\n"
         "Know what a training run will cost before it costs you.\n\n"
         "commands:\n" +
         table.text() + "\n'ullage COMMAND --help' explains a command; 'ullage --version' prints the version.\n";
}

}  // namespace ullage::cli
