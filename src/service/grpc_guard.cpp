// RFC 6750's header, as metadata of a call. gRPC names the other side as a URI, with the brackets
// of an IPv6 literal escaped or not by its version, so both spellings are known.
#include "service/grpc_guard.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <grpcpp/server_context.h>

namespace cuzk::service {
namespace {

constexpr std::string_view kScheme = "bearer ";

bool starts_with(std::string_view text, std::string_view head) {
  return text.substr(0, head.size()) == head;
}

// The token of "Bearer TOKEN"; the scheme's case does not matter.
std::string_view token_of(std::string_view authorization) {
  if (authorization.size() < kScheme.size()) return {};
  const auto same = [](char expected, char found) {
    return expected == std::tolower(static_cast<unsigned char>(found));
  };
  if (!std::equal(kScheme.begin(), kScheme.end(), authorization.begin(), same)) return {};
  return authorization.substr(kScheme.size());
}

}  // namespace

bool is_local_peer(std::string_view peer) {
  if (starts_with(peer, "unix:") || starts_with(peer, "unix-abstract:")) return true;
  if (starts_with(peer, "ipv4:127.")) return true;
  // The last two are IPv4 over a socket of IPv6.
  for (const std::string_view head :
       {"ipv6:[::1]:", "ipv6:%5B::1%5D:", "ipv6:[::ffff:127.", "ipv6:%5B::ffff:127."}) {
    if (starts_with(peer, head)) return true;
  }
  return false;
}

void GrpcGuard::set(AuthRequired required, std::vector<std::string> tokens) {
  std::atomic_store(&rules_, std::make_shared<const Rules>(Rules{required, std::move(tokens)}));
}

std::optional<std::string> GrpcGuard::refusal(std::string_view peer,
                                              std::string_view authorization) const {
  const std::shared_ptr<const Rules> rules = std::atomic_load(&rules_);
  // Without tokens the listeners decide: check_config lets none be open to others by mistake.
  if (rules->tokens.empty() || rules->required == AuthRequired::kNever) return std::nullopt;
  if (rules->required == AuthRequired::kRemote && is_local_peer(peer)) return std::nullopt;
  const std::string_view token = token_of(authorization);
  if (token.empty()) {
    return "this daemon wants a token: send the metadata \"authorization: Bearer TOKEN\"";
  }
  // Which part of it is wrong nobody is told.
  if (!token_matches(rules->tokens, token)) return "the token is none of this daemon's";
  return std::nullopt;
}

std::optional<std::string> GrpcGuard::refusal(const grpc::CallbackServerContext& context) const {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  const std::string_view authorization =
      found == metadata.end() ? std::string_view()
                              : std::string_view(found->second.data(), found->second.size());
  return refusal(context.peer(), authorization);
}

}  // namespace cuzk::service
