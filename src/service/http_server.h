// Requests from a connection to their routes, with the checks that come before any route. Between
// bytes (http_listener.h) and answers (the routes): it has no thread and no socket of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/http_listener.h"
#include "service/http_message.h"
#include "service/work_lane.h"

namespace cuzk::service {

struct HttpServerSetup {
  std::vector<HttpRoute> routes;  // see HttpRoutes
  std::uint64_t body_bytes_max = 0;
  // Whether somebody may ask: nothing, or the sentence of a refusal. `local`: from this machine,
  // and not handed on by a proxy.
  std::function<std::optional<std::string>(bool local, std::string_view authorization)> refusal;
  // False: browsers may know this server as localhost or by a literal address only. A page of
  // others that was given our address by its name server shows another Host.
  bool any_host = false;
  // Names beside those, in lower case (http.allowed_hosts).
  std::vector<std::string> allowed_hosts;
  std::function<void(int status)> count;  // of every answer
};

// Serves connections; thread-safe. A connection is served in the caller's thread, each in another.
class HttpServer {
 public:
  explicit HttpServer(HttpServerSetup setup);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // All requests of a connection, until it ends.
  void serve(HttpConnection& connection);
  // Answers end their connections from now on.
  void drain();

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace cuzk::service
