// Who may call: a token for those who are not on this machine, compared in constant time. A new set
// of rules takes the place of the old as a whole; a call that is being judged keeps the one it
// began with.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/config.h"

namespace grpc {
class CallbackServerContext;
}

namespace cuzk::service {

// Whether gRPC's name of the other side ("ipv4:127.0.0.1:9", "ipv6:%5B::1%5D:9", "unix:...") is on
// this machine.
bool is_local_peer(std::string_view peer);

// Thread-safe.
class GrpcGuard {
 public:
  // No tokens: everybody may call.
  void set(AuthRequired required, std::vector<std::string> tokens);

  // Nothing when the call may go on. Else UNAUTHENTICATED's sentence.
  std::optional<std::string> refusal(std::string_view peer, std::string_view authorization) const;
  std::optional<std::string> refusal(const grpc::CallbackServerContext& context) const;

 private:
  struct Rules {
    AuthRequired required = AuthRequired::kRemote;
    std::vector<std::string> tokens;
  };
  std::shared_ptr<const Rules> rules_ = std::make_shared<const Rules>();
};

}  // namespace cuzk::service
