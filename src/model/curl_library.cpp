// SPDX-License-Identifier: Apache-2.0
#include "model/curl_library.hpp"

#include <dlfcn.h>

namespace ullage::model {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

void* open_library() {
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

bool load(CurlLibrary& curl) {
  void* library = open_library();
  return library != nullptr && find(library, "curl_easy_init", curl.easy_init) &&
         find(library, "curl_easy_setopt", curl.easy_setopt) && find(library, "curl_easy_perform", curl.easy_perform) &&
         find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
         find(library, "curl_easy_strerror", curl.easy_strerror) &&
         find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
         find(library, "curl_slist_append", curl.slist_append) &&
         find(library, "curl_slist_free_all", curl.slist_free_all);
}

}  // namespace

Result<const CurlLibrary*> curl_library() {
  static CurlLibrary curl;
  static const bool loaded = load(curl);
  if (loaded) return &curl;
  return fail(ErrorKind::unsupported, "the hub cannot be asked: there is no libcurl on this machine", "libcurl.so.4",
              "the package libcurl4, or the model's config.json as a file");
}

}  // namespace ullage::model
