// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/command.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <exception>
#include <vector>

namespace {

using namespace ullage;
using namespace ullage::cli;

Result<ExitCode> say(std::string_view text) {
  return print_result(text).map([] { return ExitCode::yes; });
}

Result<ExitCode> run(std::span<const std::string_view> words) {
  if (words.empty()) {
    return fail(ErrorKind::usage, "a command is missing", {}, "ullage COMMAND ...", "'ullage help' lists the commands");
  }
  const std::string_view verb = words.front();
  if (verb == "-h" || verb == "--help") return say(help_text());
  if (verb == "--version") return say("ullage " ULLAGE_VERSION "\n");
  return find_command(verb).and_then([&](const Command* command) {
    return parse_arguments(command->shape, words.subspan(1)).and_then([&](const Arguments& arguments) {
      if (arguments.help) return say(help_text(*command));
      choose_store(arguments);
      return command->run(arguments);
    });
  });
}

int finish(const Result<ExitCode>& result) {
  if (result) return static_cast<int>(*result);
  print_error(result.error());
  return static_cast<int>(exit_code_of(result.error().kind));
}

// Files opened later must not become the standard streams of a program that was started without them.
void fill_standard_streams() {
  int file = open("/dev/null", O_RDWR);
  while (file >= 0 && file <= 2) file = dup(file);
  if (file > 2) close(file);
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  try {
    const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    return finish(run(words));
  } catch (const std::exception& exception) {
    return finish(fail(ErrorKind::internal, "internal error", exception.what(), {}, "please report this"));
  }
}
