// Which requests have an answer: methods by path, parameters by route. Apart from the server, so
// that what is refused can be tested without one.
#pragma once

#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "service/http_message.h"

namespace cuzk::service {

// What a server does, asked before any body is read. Const after construction, so thread-safe.
class HttpRoutes {
 public:
  // A path belongs to the first pattern that fits it, with all methods that this pattern has.
  explicit HttpRoutes(std::vector<HttpRoute> routes);

  struct Found {
    const HttpRoute* route = nullptr;  // none: nothing is there, or not with this method
    std::string allowed;  // methods of the path as Allow lists them; empty: no such path
    std::vector<std::string> captures;  // of the pattern, escaped as in the path
  };
  // `path` is one of path_of_target(). HEAD is answered where GET is (RFC 9110, 9.3.2).
  Found find(const std::string& method, const std::string& path) const;

  const std::vector<HttpRoute>& all() const { return routes_; }

 private:
  std::vector<HttpRoute> routes_;
  std::vector<std::regex> patterns_;  // of the routes, in their order
};

// The path in a request's target, as patterns are matched with it: escapes of letters, digits and
// "-._~" are undone, for they never mean anything (RFC 3986, 6.2.2.2), all others stay. So a slash
// that is escaped is part of a name and no border between two: "jobs/a%2Fwait" is the job "a/wait".
std::string path_of_target(std::string_view target);

// Whether a route takes these parameters, each once. Errors (kInvalidArgument) name the parameter
// and those that are known.
base::Status check_parameters(const HttpRoute& route,
                              const std::multimap<std::string, std::string>& given);

}  // namespace cuzk::service
