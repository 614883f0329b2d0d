// A few dozen patterns, tried in order: what a request costs beside is far more. Both look-ups are
// pure: they answer from the table and the request's head alone.
#include "service/http_routes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace cuzk::service {
namespace {

constexpr std::size_t kQuotedMax = 64;

bool answers(const HttpRoute& route, const std::string& method) {
  return route.method == (method == "HEAD" ? "GET" : method);
}

constexpr std::size_t kEscapeCharacters = 3;

// The character that an escape at the front of `text` stands for, where that is one that needs
// none.
std::optional<char> unreserved_escape(std::string_view text) {
  if (text.size() < kEscapeCharacters || text[0] != '%') return std::nullopt;
  unsigned code = 0;
  const char* const end = text.data() + kEscapeCharacters;
  const auto [stop, error] = std::from_chars(text.data() + 1, end, code, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  const char c = static_cast<char>(code);
  const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
  return is_plain ? std::optional<char>(c) : std::nullopt;
}

}  // namespace

HttpRoutes::HttpRoutes(std::vector<HttpRoute> routes) : routes_(std::move(routes)) {
  patterns_.reserve(routes_.size());
  for (const HttpRoute& route : routes_) patterns_.emplace_back(route.pattern);
}

HttpRoutes::Found HttpRoutes::find(const std::string& method, const std::string& path) const {
  std::size_t first = 0;
  std::smatch match;
  while (first < routes_.size() && !std::regex_match(path, match, patterns_[first])) ++first;
  Found found;
  if (first == routes_.size()) return found;
  for (std::size_t i = 1; i < match.size(); ++i) found.captures.push_back(match[i].str());
  for (const HttpRoute& route : routes_) {
    if (route.pattern != routes_[first].pattern) continue;
    if (!found.allowed.empty()) found.allowed += ", ";
    found.allowed += route.method == "GET" ? "GET, HEAD" : route.method;
    if (found.route == nullptr && answers(route, method)) found.route = &route;
  }
  return found;
}

std::string path_of_target(std::string_view target) {
  target = target.substr(0, target.find_first_of("?#"));
  std::string path;
  path.reserve(target.size());
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::optional<char> meant = unreserved_escape(target.substr(i));
    path += meant.value_or(target[i]);
    if (meant) i += kEscapeCharacters - 1;
  }
  return path;
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
