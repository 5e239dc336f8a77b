// SPDX-License-Identifier: Apache-2.0
// The run-time compiler: every program compiles to an empty image. Kernels compute nothing, so nothing else is needed.
#include <cstddef>
#include <map>
#include <string>

#include "virtual_gpu/support/handle_table.hpp"

using namespace ullage::vgpu;

namespace {

enum Result : int { success = 0, invalid_input = 3, invalid_program = 4, expression_not_valid = 10 };

struct Program {
  std::map<std::string, std::string> names;  ///< expression -> lowered name; nodes do not move
};

constexpr int architectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
constexpr int architecture_count = sizeof architectures / sizeof *architectures;

bool known(const void* program) {
  return handles<Program>().with(program, [](Program&) {});
}

int image_size(const void* program, std::size_t* bytes) {
  if (bytes == nullptr) return invalid_input;
  *bytes = 1;  // a terminating zero
  return known(program) ? success : invalid_program;
}

int image(const void* program, char* out) {
  if (out == nullptr) return invalid_input;
  if (!known(program)) return invalid_program;
  *out = '\0';
  return success;
}

/// Any name will do as long as it is a C identifier.
std::string lowered(const std::string& expression) {
  std::string name = "_Z";
  for (const char c : expression) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += letter ? c : '_';
  }
  return name;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return invalid_input;
  *major = 13;
  *minor = 0;
  return success;
}

const char* nvrtcGetErrorString(int result) {
  return result == success ? "NVRTC_SUCCESS" : "NVRTC_ERROR";
}

int nvrtcGetNumSupportedArchs(int* count) {
  if (count == nullptr) return invalid_input;
  *count = architecture_count;
  return success;
}

int nvrtcGetSupportedArchs(int* out) {
  if (out == nullptr) return invalid_input;
  for (int i = 0; i < architecture_count; ++i) out[i] = architectures[i];
  return success;
}

int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*, const char* const*) {
  if (program == nullptr || source == nullptr) return invalid_input;
  *program = handles<Program>().create();
  return success;
}

int nvrtcDestroyProgram(void** program) {
  if (program == nullptr || !handles<Program>().destroy(*program)) return invalid_program;
  *program = nullptr;
  return success;
}

int nvrtcCompileProgram(void* program, int /*count*/, const char* const* /*options*/) {
  return known(program) ? success : invalid_program;
}

int nvrtcAddNameExpression(void* program, const char* expression) {
  if (expression == nullptr) return invalid_input;
  const auto add = [&](Program& found) { found.names.emplace(expression, lowered(expression)); };
  return handles<Program>().with(program, add) ? success : invalid_program;
}

int nvrtcGetLoweredName(void* program, const char* expression, const char** name) {
  if (expression == nullptr || name == nullptr) return invalid_input;
  int result = expression_not_valid;
  const bool exists = handles<Program>().with(program, [&](Program& found) {
    const auto entry = found.names.find(expression);
    if (entry == found.names.end()) return;
    *name = entry->second.c_str();
    result = success;
  });
  return exists ? result : invalid_program;
}

int nvrtcGetPTXSize(void* program, std::size_t* bytes) {
  return image_size(program, bytes);
}
int nvrtcGetPTX(void* program, char* out) {
  return image(program, out);
}
int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  return image_size(program, bytes);
}
int nvrtcGetCUBIN(void* program, char* out) {
  return image(program, out);
}
int nvrtcGetLTOIRSize(void* program, std::size_t* bytes) {
  return image_size(program, bytes);
}
int nvrtcGetLTOIR(void* program, char* out) {
  return image(program, out);
}
int nvrtcGetProgramLogSize(void* program, std::size_t* bytes) {
  return image_size(program, bytes);
}
int nvrtcGetProgramLog(void* program, char* out) {
  return image(program, out);
}

}  // extern "C"
