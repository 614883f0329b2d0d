// Where a server listens and a client connects: a TCP host and port, or a unix socket. One type for
// both protocols and both sides, so that a text means the same in a configuration, in a flag and in
// a log. Names are not resolved here: that is up to whoever binds or connects.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cuzk::service {

// A value. What parse_address makes is complete: a TCP address has a host and no path, a unix one a
// path and nothing else. That a host is there says nothing of whether it resolves.
struct Address {
  enum class Kind : std::uint8_t { kTcp, kUnix };
  Kind kind = Kind::kTcp;
  std::string host;            // name or literal; IPv6 without its brackets
  std::uint16_t port = 0;      // 0: the system chooses one (listening only)
  std::filesystem::path path;  // of a unix socket

  // Whether only this machine reaches it: a unix socket, or 127.0.0.0/8, ::1, "localhost".
  bool is_local() const;
  // As parse_address reads it: "127.0.0.1:9820", "[::1]:9820", "unix:///run/cuzk.sock".
  std::string to_string() const;
  // What gRPC takes as a target or a listening address: "127.0.0.1:9820", "unix:/run/cuzk.sock".
  std::string grpc_target() const;
  bool operator==(const Address&) const = default;
};

// "host:port", "[v6]:port", ":port" (all interfaces), "unix:PATH", "unix://PATH", and either with
// "http://" or "https://" in front, which say nothing here. Errors (kInvalidArgument) name what is
// wrong and show a right one.
base::Result<Address> parse_address(std::string_view text);

// The same where there may be none: "off", and an empty text, say that nobody listens. For files
// and flags alike.
base::Result<std::optional<Address>> parse_optional_address(std::string_view text);

}  // namespace cuzk::service
