// SPDX-License-Identifier: Apache-2.0
// How a function of libc is replaced and how its original is called.
#pragma once

#include "virtual_gpu/files/route.hpp"
#include "virtual_gpu/files/store.hpp"

#include <dlfcn.h>
#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <type_traits>
#include <utility>

/// Defines libc's function NAME under another C++ name, so that it need not agree with the declarations of headers:
/// attributes, exception specifications, macros.
#define ULLAGE_REPLACES(RESULT, NAME, ...)                                                              \
  extern "C" __attribute__((visibility("default"))) RESULT ullage_files_##NAME(__VA_ARGS__) asm(#NAME); \
  extern "C" RESULT ullage_files_##NAME(__VA_ARGS__)

/// The function that would have been called without this library: libc's, or that of another preloaded library.
/// Looked up at its first use, which may be before any constructor has run.
#define ULLAGE_NEXT(TYPE, NAME)                                       \
  ([]() noexcept {                                                    \
    static std::atomic<std::add_pointer_t<TYPE>> found{nullptr};      \
    auto now = found.load(std::memory_order_relaxed);                 \
    if (now == nullptr) {                                             \
      now = reinterpret_cast<decltype(now)>(dlsym(RTLD_NEXT, #NAME)); \
      found.store(now, std::memory_order_relaxed);                    \
    }                                                                 \
    return now;                                                       \
  }())

namespace ullage::files {

/// Restores errno: a call that goes well leaves it alone.
class ErrnoKept {
 public:
  ErrnoKept() : error_(errno) {}
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;
  ~ErrnoKept() { errno = error_; }

 private:
  int error_;
};

/// What a libc function returns on failure: -1 or a null pointer.
template <class Result>
Result failed(int error) {
  errno = error;
  if constexpr (std::is_pointer_v<Result>)
    return nullptr;
  else
    return Result{-1};
}

template <class Result>
bool is_failure(Result result) {
  if constexpr (std::is_pointer_v<Result>)
    return result == nullptr;
  else
    return result < 0;
}

/// Asks `decide` for a route without touching errno.
template <class Decide>
Route decided(const Decide& decide) {
  const ErrnoKept kept;
  return decide();
}

/// Makes a call as its route says. `call` takes the path and gives the result of the real function.
template <class Call>
auto follow(const Route& route, const char* path, const Call& call) -> decltype(call(path)) {
  using Result = decltype(call(path));
  if (route.error != 0) return failed<Result>(route.error);
  if constexpr (!std::is_pointer_v<Result>)
    if (route.done) return 0;
  const Result result = call(route.path.empty() ? path : route.path.c_str());
  if (route.records && !is_failure(result)) {
    const ErrnoKept kept;
    succeeded(route);
  }
  return result;
}

/// A call that only looks.
template <class Call>
auto looking(int folder, const char* path, bool follows, const Call& call) -> decltype(call(path)) {
  if (!diverged()) return call(path);
  return follow(decided([&] { return route_read(folder, path, follows); }), path, call);
}

/// A call that changes what is told by `route`, one of the functions route_*.
template <class Decide, class Call>
auto changing(const char* path, const Decide& decide, const Call& call) -> decltype(call(path)) {
  if (!active()) return call(path);
  return follow(decided(decide), path, call);
}

}  // namespace ullage::files
