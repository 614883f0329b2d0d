// Addresses: what is taken, what is refused and with which words.
#include "service/address.h"

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

TEST(Address, ReadsHostAndPort) {
  const auto address = parse_address("127.0.0.1:9820");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->kind, Address::Kind::kTcp);
  EXPECT_EQ(address->host, "127.0.0.1");
  EXPECT_EQ(address->port, 9820);
  EXPECT_EQ(address->to_string(), "127.0.0.1:9820");
  EXPECT_EQ(address->grpc_target(), "127.0.0.1:9820");
}

TEST(Address, ReadsIpv6InBrackets) {
  const auto address = parse_address("[::1]:80");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->to_string(), "[::1]:80");
  EXPECT_TRUE(address->is_local());
}

TEST(Address, ReadsUnixSocketsInBothSpellings) {
  for (const char* text : {"unix:///run/a.sock", "unix:/run/a.sock"}) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->kind, Address::Kind::kUnix);
    EXPECT_EQ(address->path, "/run/a.sock");
    EXPECT_EQ(address->grpc_target(), "unix:/run/a.sock");
    EXPECT_TRUE(address->is_local());
  }
  EXPECT_EQ(parse_address("unix:a.sock")->path, "a.sock");
}

TEST(Address, TakesTheSchemeThatTheRustToolsShow) {
  EXPECT_EQ(parse_address("http://127.0.0.1:9820")->to_string(), "127.0.0.1:9820");
  EXPECT_EQ(parse_address("http://prover:9820/")->host, "prover");
}

TEST(Address, AnEmptyHostIsEveryInterface) {
  const auto address = parse_address(":9820");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->host, "0.0.0.0");
  EXPECT_FALSE(address->is_local());
}

TEST(Address, TellsWhatIsLocal) {
  EXPECT_TRUE(parse_address("127.3.2.1:1")->is_local());
  EXPECT_TRUE(parse_address("localhost:1")->is_local());
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "127.evil.example:1", "prover:1"}) {
    EXPECT_FALSE(parse_address(text)->is_local()) << text;
  }
}

TEST(Address, ComesBackFromItsText) {
  for (const char* text : {"[fe80::1]:1", "a:0", "unix:///x y", "0.0.0.0:65535"}) {
    const auto once = parse_address(text);
    ASSERT_TRUE(once.ok()) << text;
    EXPECT_EQ(parse_address(once->to_string()).value(), *once) << text;
  }
}

TEST(Address, RefusesWhatIsNone) {
  const std::string long_path = "unix://" + std::string(108, 'a');
  for (const std::string& text : std::vector<std::string>{"",
                                                          "9820",
                                                          "host",
                                                          "host:",
                                                          "host:x",
                                                          "host:65536",
                                                          "host:-1",
                                                          "host:1 ",
                                                          "ho st:1",
                                                          "::1:80",
                                                          "[::1:80",
                                                          "[]:80",
                                                          "unix:",
                                                          "unix://",
                                                          "http://",
                                                          "user@host:1",
                                                          "a/b:1",
                                                          "host:1\n",
                                                          std::string("unix:a\0b", 8),
                                                          long_path}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.error().kind, base::ErrorKind::kInvalidArgument);
    EXPECT_NE(address.error().message.find("127.0.0.1:9820"), std::string::npos);
  }
}

}  // namespace
}  // namespace cuzk::service
