// SPDX-License-Identifier: Apache-2.0
#include "model/hub.hpp"

#include "base/text.hpp"
#include "model/catalogue.hpp"
#include "model/curl_library.hpp"
#include "model/environment.hpp"
#include "model/file.hpp"

#include <fmt/format.h>

#include <memory>
#include <string_view>

namespace ullage::model {
namespace {

constexpr long connect_seconds = 10, whole_seconds = 30;
constexpr int most_redirects = 5;

/// One answer of a server.
struct Answer {
  long status = 0;
  std::string body;
  std::string redirect;  ///< absolute; empty for none
};

std::size_t take_bytes(char* data, std::size_t size, std::size_t count, void* target) {
  auto& body = *static_cast<std::string*>(target);
  if (body.size() + size * count > most_config_bytes) return 0;  // ends the transfer
  body.append(data, size * count);
  return size * count;
}

/// The headers of one request, freed with it.
struct Headers {
  const CurlLibrary& curl;
  curl_slist* list = nullptr;
  ~Headers() { curl.slist_free_all(list); }
};

tl::unexpected<Error> network_error(const CurlLibrary& curl, CURLcode code, const std::string& url) {
  if (code == CURLE_WRITE_ERROR)
    return fail(ErrorKind::io, "the answer is too large for a model's configuration", url, "at most 4 MiB");
  return fail(ErrorKind::io, fmt::format("the hub cannot be reached: {}", curl.easy_strerror(code)), url, {},
              "give the model's config.json as a file, or a name of the catalogue; HF_ENDPOINT names another hub");
}

/// One request; redirects are not followed here, so that the token is never sent along.
Result<Answer> request(const CurlLibrary& curl, const std::string& url, const std::string& token) {
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl.easy_init(), curl.easy_cleanup);
  if (!handle) return fail(ErrorKind::io, "libcurl cannot start", url);
  Answer answer;
  Headers headers{curl};
  if (!token.empty()) headers.list = curl.slist_append(nullptr, ("Authorization: Bearer " + token).c_str());
  const auto set = [&](CURLoption option, auto value) { curl.easy_setopt(handle.get(), option, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_HTTPHEADER, headers.list);
  set(CURLOPT_USERAGENT, "ullage");
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT, connect_seconds);
  set(CURLOPT_TIMEOUT, whole_seconds);
  set(CURLOPT_WRITEFUNCTION, take_bytes);
  set(CURLOPT_WRITEDATA, &answer.body);
  if (const CURLcode code = curl.easy_perform(handle.get()); code != CURLE_OK) return network_error(curl, code, url);
  const char* redirect = nullptr;
  curl.easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  curl.easy_getinfo(handle.get(), CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) answer.redirect = redirect;
  return answer;
}

/// "https://huggingface.co" of any address there.
std::string_view origin_of(std::string_view url) {
  const auto host = url.find("://");
  return host == url.npos ? url : url.substr(0, url.find('/', host + 3));
}

bool is_web_address(std::string_view url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

Result<Fetched> as_config(const Answer& answer, const std::string& url, const std::string& id) {
  if (answer.status == 200) return Fetched{answer.body, url};
  if (answer.status == 401 || answer.status == 403)
    return fail(ErrorKind::io, fmt::format("the hub wants a token that may read this model (HTTP {})", answer.status),
                url, "the variable HF_TOKEN with such a token", catalogue_suggestion(id));
  if (answer.status == 404)
    return fail(ErrorKind::usage, "the hub knows no configuration of that name", url, "ORG/NAME",
                catalogue_suggestion(id));
  return fail(ErrorKind::io, fmt::format("the hub answers with HTTP {}", answer.status), url);
}

bool is_on(const char* variable) {
  const std::string value = lower(environment(variable));
  return value == "1" || value == "on" || value == "yes" || value == "true";
}

}  // namespace

bool hub_is_forbidden() {
  return is_on("HF_HUB_OFFLINE") || is_on("TRANSFORMERS_OFFLINE");
}

Result<Fetched> fetch_config(const std::string& id) {
  const auto curl = curl_library();
  if (!curl) return tl::unexpected(curl.error());
  std::string endpoint = environment("HF_ENDPOINT");
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (endpoint.empty()) endpoint = "https://huggingface.co";
  const std::string token(trim(environment("HF_TOKEN")));
  const std::string first = endpoint + "/" + id + "/resolve/main/config.json";
  std::string url = first;
  for (int redirects = 0; redirects <= most_redirects; ++redirects) {
    if (!is_web_address(url)) return fail(ErrorKind::io, "no address of a hub", url, "http:// or https://");
    const auto answer = request(**curl, url, origin_of(url) == origin_of(first) ? token : "");
    if (!answer) return tl::unexpected(answer.error());
    if (answer->redirect.empty()) return as_config(*answer, url, id);
    url = answer->redirect;
  }
  return fail(ErrorKind::io, "the hub redirects without end", first);
}

}  // namespace ullage::model
