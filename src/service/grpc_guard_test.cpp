// Who may call without a token, and what a token looks like.
#include "service/grpc_guard.h"

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

constexpr const char* kToken = "0123456789abcdef0123";
constexpr const char* kRemote = "ipv4:10.0.0.7:5000";

TEST(GrpcGuard, KnowsThisMachine) {
  for (const char* peer :
       {"unix:", "unix:/run/s", "unix-abstract:x", "ipv4:127.0.0.1:1", "ipv4:127.3.2.1:1",
        "ipv6:[::1]:1", "ipv6:%5B::1%5D:1", "ipv6:%5B::ffff:127.0.0.1%5D:1"}) {
    EXPECT_TRUE(is_local_peer(peer)) << peer;
  }
  for (const char* peer : {"", kRemote, "ipv4:128.0.0.1:1", "ipv6:[::2]:1", "ipv6:[::1]x",
                           "ipv6:%5B::ffff:10.0.0.1%5D:1", "ipv4:1270.0.0.1:1", "dns:127.0.0.1"}) {
    EXPECT_FALSE(is_local_peer(peer)) << peer;
  }
}

TEST(GrpcGuard, LetsEverybodyInWithoutTokens) {
  GrpcGuard guard;
  EXPECT_FALSE(guard.refusal(kRemote, "").has_value());
  guard.set(AuthRequired::kAlways, {});
  EXPECT_FALSE(guard.refusal(kRemote, "").has_value());
}

TEST(GrpcGuard, WantsATokenOfThoseElsewhere) {
  GrpcGuard guard;
  guard.set(AuthRequired::kRemote, {kToken, "another-token-here"});
  EXPECT_FALSE(guard.refusal("unix:", "").has_value());
  EXPECT_TRUE(guard.refusal(kRemote, "").has_value());
  const std::string right = std::string("Bearer ") + kToken;
  EXPECT_FALSE(guard.refusal(kRemote, right).has_value());
  EXPECT_FALSE(guard.refusal(kRemote, "bearer another-token-here").has_value());
  for (const std::string& wrong :
       {std::string(kToken), "Basic " + std::string(kToken), right + "x", right.substr(0, 20),
        std::string("Bearer "), "Bearer  " + std::string(kToken)}) {
    EXPECT_TRUE(guard.refusal(kRemote, wrong).has_value()) << wrong;
  }
  EXPECT_EQ(guard.refusal(kRemote, right + "x")->find(kToken), std::string::npos);
}

TEST(GrpcGuard, WantsOneOfEverybodyOrNobodyWhenToldSo) {
  GrpcGuard guard;
  guard.set(AuthRequired::kAlways, {kToken});
  EXPECT_TRUE(guard.refusal("unix:", "").has_value());
  guard.set(AuthRequired::kNever, {kToken});
  EXPECT_FALSE(guard.refusal(kRemote, "").has_value());
}

}  // namespace
}  // namespace cuzk::service
