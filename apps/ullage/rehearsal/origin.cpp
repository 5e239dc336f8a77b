// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/origin.hpp"

#include "base/text.hpp"
#include "launch/capture.hpp"
#include "launch/interpreter.hpp"
#include "store/configuration.hpp"
#include "store/time.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::size_t shapes_kept = 4;

/// Those that change what a training allocates; nothing that may hold a secret.
constexpr std::array steering_variables = {"PYTORCH_ALLOC_CONF",
                                           "PYTORCH_CUDA_ALLOC_CONF",
                                           "PYTORCH_NO_CUDA_MEMORY_CACHING",
                                           "CUBLAS_WORKSPACE_CONFIG",
                                           "CUBLASLT_WORKSPACE_SIZE",
                                           "CUDA_VISIBLE_DEVICES",
                                           "CUDA_MODULE_LOADING",
                                           "CUDA_LAUNCH_BLOCKING",
                                           "NVIDIA_TF32_OVERRIDE",
                                           "TORCH_COMPILE_DISABLE",
                                           "TORCHDYNAMO_DISABLE",
                                           "TORCHINDUCTOR_MAX_AUTOTUNE",
                                           "TORCH_CUDNN_V8_API_LIMIT",
                                           "TORCH_NCCL_AVOID_RECORD_STREAMS",
                                           "WORLD_SIZE",
                                           "RANK",
                                           "LOCAL_RANK"};

/// The folder of the script; the current one for a module.
std::string folder_of(const std::string& script) {
  if (!script.ends_with(".py")) return ".";
  const std::string folder = fs::path(script).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Reads `git status --porcelain=v2 --branch`.
void take_status(report::RunOrigin& origin, const std::string& status) {
  constexpr std::string_view head = "# branch.oid ";
  for (const std::string& line : split(status, '\n')) {
    if (line.starts_with(head) && !line.ends_with(")")) origin.commit = line.substr(head.size());
    if (!line.empty() && line.front() != '#') origin.dirty = true;
  }
}

void take_code(report::RunOrigin& origin, const std::string& script) {
  const auto git = find_program("git");
  if (!git) return;
  const auto status = output_of({*git, "-c", "core.fsmonitor=false", "--no-optional-locks", "-C", folder_of(script),
                                 "status", "--porcelain=v2", "--branch", "--untracked-files=no", "--ignore-submodules"},
                                1s);
  if (status) take_status(origin, *status);
}

std::string default_name(const std::string& script) {
  const fs::path path(script);
  return (path.extension() == ".py" ? path.stem() : path.filename()).string();
}

}  // namespace

report::RunOrigin origin_of(const RehearsalOptions& options) {
  using std::chrono::system_clock;
  report::RunOrigin origin;
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch());
  origin.started = store::time_text(now.count());
  const std::string script = store::command_parts(options.command).script;
  origin.name = options.name.empty() ? default_name(script) : options.name;
  for (const char* name : steering_variables)
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) origin.environment[name] = value;
  take_code(origin, script);
  return origin;
}

void take_input_shapes(report::RunResult& result, const Attempt& attempt) {
  if (!attempt.run) return;
  auto& shapes = result.origin.input_shapes;
  for (const auto& batch : attempt.run->facts.batches)
    if (shapes.size() < shapes_kept && std::ranges::find(shapes, batch.shapes) == shapes.end())
      shapes.push_back(batch.shapes);
}

}  // namespace ullage::cli
