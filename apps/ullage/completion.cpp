// SPDX-License-Identifier: Apache-2.0
// `ullage completion`: completion scripts for shells, written from the flag tables.
#include "apps/ullage/command.hpp"
#include "apps/ullage/output.hpp"
#include "base/text.hpp"
#include "hardware/catalogue.hpp"
#include "model/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

std::string gpu_names() {
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus()) names.emplace_back(gpu.short_name);
  return join(names, " ");
}

std::string model_names() {
  std::vector<std::string> names;
  for (const model::CatalogueEntry& entry : model::catalogue()) names.emplace_back(entry.short_name);
  return join(names, " ");
}

std::string command_names() {
  std::vector<std::string> names;
  for (const Command* command : commands()) names.emplace_back(command->name);
  return join(names, " ");
}

// What a command takes as its first positional, as words to offer.
std::string positional_words(const Command& command) {
  if (&command == &gpus_command) return gpu_names();
  if (&command == &models_command || &command == &plan_command) return model_names();
  if (&command == &help_command) return command_names();
  if (&command == &completion_command) return "bash zsh fish";
  if (&command == &store_command) return "rebuild export import";
  return {};
}

std::string flag_words(const Command& command) {
  std::vector<std::string> words{"--help"};
  for (const Flag& flag : command.shape.flags) words.push_back("--" + std::string(flag.name));
  return join(words, " ");
}

std::string bash_script() {
  std::string cases;
  for (const Command* command : commands()) {
    cases +=
        fmt::format("    {}) words=\"{} {}\" ;;\n", command->name, flag_words(*command), positional_words(*command));
  }
  return fmt::format(
      "# bash completion of ullage\n"
      "_ullage() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\" words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  if [ \"$previous\" = --gpu ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}    *) ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}}\n"
      "complete -o default -F _ullage ullage\n",
      command_names(), gpu_names(), cases);
}

// Text inside a single-quoted zsh or fish word.
std::string escaped(std::string_view text, std::string_view specials) {
  std::string result;
  for (const char c : text) {
    if (specials.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_flag(const Flag& flag) {
  const std::string help = escaped(flag.help, "[]:\\");
  if (flag.kind == FlagKind::toggle) return fmt::format(" \\\n        '--{}[{}]'", flag.name, help);
  const std::string values = flag.kind == FlagKind::gpu ? "(" + gpu_names() + ")" : "";
  return fmt::format(" \\\n        '--{}=[{}]:{}:{}'", flag.name, help, flag.value_name, values);
}

std::string zsh_case(const Command& command) {
  std::string flags;
  for (const Flag& flag : command.shape.flags) flags += zsh_flag(flag);
  const std::string words = positional_words(command);
  const std::string rest = words.empty() ? "*:file:_files" : "*:name:(" + words + ")";
  return fmt::format("      {})\n        _arguments '--help[print help]'{} \\\n        '{}' ;;\n", command.name, flags,
                     rest);
}

std::string zsh_script() {
  std::string cases;
  for (const Command* command : commands()) cases += zsh_case(*command);
  return fmt::format(
      "#compdef ullage\n"
      "_ullage() {{\n"
      "  if (( CURRENT == 2 )); then\n"
      "    compadd {} --help --version\n"
      "    return\n"
      "  fi\n"
      "  local verb=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $verb in\n{}  esac\n"
      "}}\n"
      "_ullage \"$@\"\n",
      command_names(), cases);
}

std::string fish_flag(const Command& command, const Flag& flag) {
  const std::string value = flag.kind == FlagKind::toggle ? ""
                            : flag.kind == FlagKind::gpu  ? " -x -a '" + gpu_names() + "'"
                                                          : " -r";
  return fmt::format("complete -c ullage -n '__fish_seen_subcommand_from {}' -l {}{} -d '{}'\n", command.name,
                     flag.name, value, escaped(flag.help, "'\\"));
}

std::string fish_script() {
  std::string text = "# fish completion of ullage\n";
  for (const Command* command : commands()) {
    text += fmt::format("complete -c ullage -n __fish_use_subcommand -f -a {} -d '{}'\n", command->name,
                        escaped(command->summary, "'\\"));
    for (const Flag& flag : command->shape.flags) text += fish_flag(*command, flag);
    const std::string words = positional_words(*command);
    if (!words.empty()) {
      text += fmt::format("complete -c ullage -n '__fish_seen_subcommand_from {}' -f -a '{}'\n", command->name, words);
    }
  }
  return text;
}

Result<std::string> script_for(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return fail(ErrorKind::usage, "unknown shell", "'" + std::string(shell) + "'", "bash, zsh or fish");
}

Result<ExitCode> run_completion(const Arguments& arguments) {
  const std::string shell = arguments.positionals.empty() ? "" : arguments.positionals.front();
  return script_for(shell).and_then(
      [](const std::string& script) { return print_result(script).map([] { return ExitCode::yes; }); });
}

}  // namespace

const Command completion_command{"completion",    "print a completion script for a shell",
                                 "bash|zsh|fish", "For bash: source <(ullage completion bash)",
                                 {{}, 1, false},  run_completion};

}  // namespace ullage::cli
