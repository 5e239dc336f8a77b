// SPDX-License-Identifier: Apache-2.0
// libcurl, loaded at run time: the few functions that one request needs.
#pragma once

#include "base/result.hpp"

#include <curl/curl.h>

namespace ullage::model {

struct CurlLibrary {
  CURL* (*easy_init)() = nullptr;
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...) = nullptr;
  CURLcode (*easy_perform)(CURL*) = nullptr;
  CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...) = nullptr;
  const char* (*easy_strerror)(CURLcode) = nullptr;
  void (*easy_cleanup)(CURL*) = nullptr;
  curl_slist* (*slist_append)(curl_slist*, const char*) = nullptr;
  void (*slist_free_all)(curl_slist*) = nullptr;
};

/// The library, loaded once. Errors: `unsupported` when this machine has none.
[[nodiscard]] Result<const CurlLibrary*> curl_library();

}  // namespace ullage::model
