// A few dozen patterns, tried in order: what a request costs beside is far more. Both look-ups are
// pure: they answer from the table and the request's head alone.
#include "service/http_routes.h"

#include <algorithm>

#include <fmt/format.h>

namespace cuzk::service {
namespace {

constexpr std::size_t kQuotedMax = 64;

bool answers(const HttpRoute& route, const std::string& method) {
  return route.method == (method == "HEAD" ? "GET" : method);
}

}  // namespace

HttpRoutes::HttpRoutes(std::vector<HttpRoute> routes) : routes_(std::move(routes)) {
  patterns_.reserve(routes_.size());
  for (const HttpRoute& route : routes_) patterns_.emplace_back(route.pattern);
}

HttpRoutes::Found HttpRoutes::find(const std::string& method, const std::string& path) const {
  std::size_t first = 0;
  while (first < routes_.size() && !std::regex_match(path, patterns_[first])) ++first;
  Found found;
  if (first == routes_.size()) return found;
  for (const HttpRoute& route : routes_) {
    if (route.pattern != routes_[first].pattern) continue;
    if (!found.allowed.empty()) found.allowed += ", ";
    found.allowed += route.method == "GET" ? "GET, HEAD" : route.method;
    if (found.route == nullptr && answers(route, method)) found.route = &route;
  }
  return found;
}

base::Status check_parameters(const HttpRoute& route,
                              const std::multimap<std::string, std::string>& given) {
  if (!route.parameters) return base::ok_status();
  const auto& known = *route.parameters;
  for (const auto& [name, value] : given) {
    const std::string shown = name.substr(0, kQuotedMax);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return base::Error{
          base::ErrorKind::kInvalidArgument,
          fmt::format("parameter {}: not known here; this path takes {}", shown,
                      known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")))};
    }
    if (given.count(name) > 1) {
      return base::Error{
          base::ErrorKind::kInvalidArgument,
          fmt::format("parameter {}: given {} times, expected once", shown, given.count(name))};
    }
  }
  return base::ok_status();
}

}  // namespace cuzk::service
