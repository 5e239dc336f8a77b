// SPDX-License-Identifier: Apache-2.0
#include "launch/capture.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

extern char** environ;

namespace ullage {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> clean_environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (text.rfind("ULLAGE_", 0) != 0 && text.rfind("LD_PRELOAD=", 0) != 0) kept.push_back(text);
  }
  return kept;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Its standard output goes to `output`; 0 when it could not be started.
pid_t start(std::vector<std::string> argv, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  auto environment = clean_environment();
  pid_t pid = 0;
  const int code =
      posix_spawn(&pid, argv[0].c_str(), &actions, nullptr, pointers(argv).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  return code == 0 ? pid : 0;
}

bool readable(int input, std::optional<Clock::time_point> deadline) {
  if (!deadline) return true;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  pollfd watched{input, POLLIN, 0};
  return poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0;
}

}  // namespace

std::optional<std::string> output_of(std::vector<std::string> argv, std::chrono::milliseconds limit) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const pid_t pid = start(std::move(argv), pipe_ends[1]);
  close(pipe_ends[1]);
  const auto deadline = limit.count() > 0 ? std::optional(Clock::now() + limit) : std::nullopt;
  std::string text;
  char buffer[4096];
  bool in_time = true;
  for (ssize_t n = 1; pid != 0 && n > 0 && (in_time = readable(pipe_ends[0], deadline));) {
    n = read(pipe_ends[0], buffer, sizeof(buffer));
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  }
  close(pipe_ends[0]);
  if (pid != 0 && !in_time) kill(pid, SIGKILL);
  int status = 0;
  if (pid == 0 || waitpid(pid, &status, 0) != pid || status != 0) return std::nullopt;
  return text;
}

}  // namespace ullage
