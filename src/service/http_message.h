// A request and its reply as handlers see them, apart from the library that reads and writes them.
// What handlers know of HTTP is this, so a change of the library ends at http_server.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/result.h"

namespace cuzk::service {

struct HttpRequest {
  std::string method;                        // "GET", "POST", "DELETE"
  std::string path;                          // decoded
  std::vector<std::string> captures;         // of the route's pattern
  std::map<std::string, std::string> query;  // the first value of each name
  std::string content_type;
  base::Bytes body;
  std::string peer;
  // Whether whoever asks has closed the connection, or the server stops.
  std::function<bool()> is_gone;

  std::string parameter(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  }
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

HttpReply json_reply(const nlohmann::ordered_json& value, int status = 200);
// {"error": {"kind": ..., "message": ...}} with the status that fits the kind.
HttpReply error_reply(const base::Error& error);
// The same; Retry-After says `delay`, 0: nothing.
HttpReply error_reply(const base::Error& error, std::chrono::milliseconds delay);
// The reply as it goes over the wire, for a connection that is closed after it.
std::string last_reply_text(const HttpReply& reply, std::string_view reason);
// The body of every error, whatever its status.
nlohmann::ordered_json error_json(std::string_view kind, std::string_view message);
int http_status(base::ErrorKind kind);

// Values of the query, `most` at most. Errors (kInvalidArgument) name the parameter.
base::Result<std::optional<std::uint64_t>> query_number(const HttpRequest& request,
                                                        const std::string& name,
                                                        std::uint64_t most = UINT64_MAX);

struct HttpRoute {
  std::string method;
  std::string pattern;  // a regular expression of the whole path; no nested repeats
  std::function<HttpReply(const HttpRequest&)> answer;
  bool is_public = false;  // answered without a token
  // Of the query; another one is refused. Without a list whatever is given is ignored.
  std::optional<std::vector<std::string>> parameters = {};
};

}  // namespace cuzk::service
