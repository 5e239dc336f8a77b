// SPDX-License-Identifier: Apache-2.0
#include "launch/interpreter.hpp"

#include "base/text.hpp"
#include "launch/capture.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ullage {
namespace {

namespace fs = std::filesystem;

// Reads version.py as text and the wheel's metadata; architectures come from the text that torch.cuda.get_arch_list
// shows.
constexpr const char* probe_script = R"PY(
import importlib.util, os, platform, re, mmap
print("python=" + platform.python_version())
spec = importlib.util.find_spec("torch")
if spec is not None and spec.origin:
    folder = os.path.dirname(spec.origin)
    print("found=1")
    try:
        text = open(os.path.join(folder, "version.py")).read()
        for key, out in (("__version__", "version"), ("cuda", "cuda"), ("hip", "hip")):
            m = re.search(r"^%s\b[^=]*= *'([^']*)'" % key, text, re.M)
            if m: print(out + "=" + m.group(1))
    except OSError:
        pass
    try:
        from importlib.metadata import requires
        for r in requires("torch") or ():
            m = re.match(r"nvidia-cudnn-cu\d+ *\(?== *([\d.]+)", r)
            if m: print("cudnn=" + m.group(1))
    except Exception:
        pass
    try:
        with open(os.path.join(folder, "lib", "libtorch_python.so"), "rb") as f:
            m = re.search(rb"sm_\d+[a-z]?(?: (?:sm|compute)_\d+[a-z]?)+\x00", mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))
            if m: print("architectures=" + m.group()[:-1].decode())
    except (OSError, ValueError):
        pass
)PY";

bool is_executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

bool looks_like_python(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  return name.rfind("python", 0) == 0 || name.rfind("pypy", 0) == 0;
}

/// The words of a line, quotes taken off.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    word.erase(std::remove(word.begin(), word.end(), '"'), word.end());
    words.push_back(word);
  }
  return words;
}

std::optional<std::string> python_in(const std::vector<std::string>& words) {
  for (const auto& word : words)
    if (looks_like_python(word)) return find_program(word);
  return std::nullopt;
}

/// "#!PYTHON", "#!/usr/bin/env PYTHON", or a shell's "'''exec' PYTHON" in the second line.
std::optional<std::string> named_by_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string first(4096, '\0');
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  first.resize(static_cast<std::size_t>(file.gcount()));
  if (first.rfind("#!", 0) != 0) return std::nullopt;
  std::istringstream lines(first.substr(2));
  std::string line;
  std::getline(lines, line);
  if (auto python = python_in(words_of(line))) return python;
  std::getline(lines, line);
  return line.rfind("'''exec'", 0) == 0 ? python_in(words_of(line)) : std::nullopt;
}

TorchProbe read_probe(const std::string& interpreter, const std::string& text) {
  TorchProbe probe;
  probe.interpreter = interpreter;
  for (const auto& line : split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key == "python") probe.python = value;
    if (key == "found") probe.found = true;
    if (key == "version") probe.version = value;
    if (key == "cuda") probe.cuda = value;
    if (key == "hip") probe.rocm = true;
    if (key == "cudnn") probe.cudnn = value;
    if (key == "architectures") probe.architectures = split(value, ' ');
  }
  return probe;
}

/// Code for sm_XY runs on devices of the same major capability and the same or a higher minor one.
bool serves(const std::string& architecture, int cc_major, int cc_minor) {
  const int number = std::atoi(architecture.c_str() + architecture.find('_') + 1);
  return architecture.rfind("sm_", 0) == 0 && number / 10 == cc_major && number % 10 <= cc_minor;
}

constexpr const char* how_to_install =
    "no GPU and no NVIDIA package is needed: 'pip install --no-deps torch' (2.11 or newer) and torch's small "
    "dependencies (filelock typing-extensions sympy networkx jinja2 fsspec) give the CUDA 13 wheel and save 4 GB";

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_executable(name) ? std::optional(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path ? path : "/usr/bin:/bin", ':'))
    if (const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name; is_executable(candidate))
      return candidate.string();
  return std::nullopt;
}

std::optional<std::string> interpreter_of(const std::vector<std::string>& argv) {
  if (argv.empty()) return std::nullopt;
  const auto program = find_program(argv.front());
  if (!program) return std::nullopt;
  if (auto named = named_by_script(*program)) return named;
  return looks_like_python(*program) ? program : std::nullopt;
}

Result<TorchProbe> probe_torch(const std::string& interpreter) {
  const auto text = output_of({interpreter, "-c", probe_script});
  if (!text) return fail(ErrorKind::unsupported, "this Python does not run", interpreter);
  return read_probe(interpreter, *text);
}

std::string cudnn_number(const std::string& version) {
  const auto parts = split(version, '.');
  if (parts.size() < 3) return {};
  return std::to_string(std::atoi(parts[0].c_str()) * 10000 + std::atoi(parts[1].c_str()) * 100 +
                        std::atoi(parts[2].c_str()));
}

Result<void> check_torch(const TorchProbe& probe, int cc_major, int cc_minor, const std::string& gpu_name) {
  if (!probe.found)
    return fail(ErrorKind::unsupported, "this Python has no torch", probe.interpreter, "a torch built for CUDA 13",
                how_to_install);
  const std::string torch = "torch " + probe.version;
  if (probe.rocm)
    return fail(ErrorKind::unsupported, torch + " is built for ROCm", probe.interpreter, "a torch built for CUDA 13",
                how_to_install);
  if (probe.cuda.empty())
    return fail(ErrorKind::unsupported, torch + " is a build without CUDA", probe.interpreter,
                "a torch built for CUDA 13", how_to_install);
  if (std::atoi(probe.cuda.c_str()) != 13)
    return fail(ErrorKind::unsupported, torch + " is built for CUDA " + probe.cuda, probe.interpreter,
                "a torch built for CUDA 13: 2.11 or newer", how_to_install);
  const auto& held = probe.architectures;
  const auto fits = [&](const std::string& a) { return serves(a, cc_major, cc_minor); };
  if (!held.empty() && std::none_of(held.begin(), held.end(), fits))
    return fail(ErrorKind::unsupported, torch + " holds no code for " + gpu_name, probe.interpreter,
                "compute capability " + std::to_string(cc_major) + "." + std::to_string(cc_minor) + "; it holds " +
                    join(held, " "),
                "choose a GPU of one of these architectures; a torch for CUDA 12 would be needed for older ones");
  return {};
}

}  // namespace ullage
