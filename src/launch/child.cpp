// SPDX-License-Identifier: Apache-2.0
#include "launch/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace ullage {
namespace {

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

tl::unexpected<Error> cannot_start(const char* what) {
  return fail(ErrorKind::io, "the command could not be started", what, {}, std::strerror(errno));
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start("no pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// What the child tells when it cannot become the command.
struct StartFailure {
  enum class Stage : int { directory, execute } stage;
  int error;
};

using Environment = std::map<std::string, std::string, std::less<>>;

std::vector<std::string> merged_environment(const LaunchOptions& options) {
  Environment merged;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text(*entry);
    const auto cut = text.find('=');
    if (cut != std::string::npos) merged[text.substr(0, cut)] = text.substr(cut + 1);
  }
  for (const auto& [name, value] : options.environment) {
    if (value) merged[name] = *value;
    if (!value) merged.erase(name);
  }
  std::vector<std::string> result;
  for (const auto& [name, value] : merged) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Everything the child needs, made before the fork: after it only async-signal-safe calls are allowed.
struct Plan {
  std::vector<char*> argv;
  std::vector<char*> environment;
  const char* directory;
  int out;
  int err;
  int report;
  pid_t parent;
};

[[noreturn]] void give_up(int report, StartFailure::Stage stage) {
  const StartFailure failure{stage, errno};
  [[maybe_unused]] const ssize_t written = write(report, &failure, sizeof failure);
  _exit(127);
}

[[noreturn]] void become_command(const Plan& plan, const SignalWatch& signals) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != plan.parent) _exit(127);
  dup2(plan.out, STDOUT_FILENO);
  dup2(plan.err, STDERR_FILENO);
  if (*plan.directory && chdir(plan.directory) != 0) give_up(plan.report, StartFailure::Stage::directory);
  signals.restore();
  environ = const_cast<char**>(plan.environment.data());
  execvp(plan.argv[0], plan.argv.data());
  give_up(plan.report, StartFailure::Stage::execute);
}

Error explain(const StartFailure& failure, const LaunchOptions& options) {
  if (failure.stage == StartFailure::Stage::directory) {
    return {ErrorKind::usage,
            "the working directory cannot be entered",
            options.working_directory,
            {},
            std::strerror(failure.error)};
  }
  const std::string& name = options.argv.front();
  if (failure.error == ENOENT) {
    return {ErrorKind::usage, "command not found", "'" + name + "'", {}, "is it installed, and in PATH?"};
  }
  return {ErrorKind::usage, "the command cannot be executed", "'" + name + "'", {}, std::strerror(failure.error)};
}

Result<void> check_started(int report, const LaunchOptions& options) {
  StartFailure failure{};
  ssize_t got = -1;
  do {
    got = read(report, &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof failure)) return {};
  return tl::unexpected(explain(failure, options));
}

void make_non_blocking(const Descriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

Result<Child> start_child(const LaunchOptions& options, const SignalWatch& signals) {
  auto out = make_pipe();
  auto err = make_pipe();
  auto report = make_pipe();
  if (!out || !err || !report) return cannot_start("no pipe");
  std::vector<std::string> argv = options.argv;
  std::vector<std::string> environment = merged_environment(options);
  const Plan plan{pointers(argv),
                  pointers(environment),
                  options.working_directory.c_str(),
                  out->write_end.get(),
                  err->write_end.get(),
                  report->write_end.get(),
                  getpid()};
  const pid_t pid = fork();
  if (pid < 0) return cannot_start("no process");
  if (pid == 0) become_command(plan, signals);
  report->write_end.close();
  if (auto started = check_started(report->read_end.get(), options); !started) {
    waitpid(pid, nullptr, 0);
    return tl::unexpected(started.error());
  }
  make_non_blocking(out->read_end);
  make_non_blocking(err->read_end);
  return Child{pid, std::move(out->read_end), std::move(err->read_end)};
}

}  // namespace ullage
