// Reading is strict: what is not clearly an address is refused with a right one shown. A host is
// checked for its characters alone, for which names there are only DNS knows; the last colon parts
// host and port, since an IPv6 literal has colons of its own.
#include "service/address.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <sys/un.h>

namespace cuzk::service {
namespace {

// What sockaddr_un holds, less its final zero.
constexpr std::size_t kUnixPathBytesMax = 107;
static_assert(kUnixPathBytesMax + 1 == sizeof(sockaddr_un::sun_path));
// The longest name of DNS (RFC 1035, 2.3.4).
constexpr std::size_t kHostBytesMax = 255;
constexpr std::string_view kUnix = "unix:";

// The first 128 bytes are shown: the text may be anything, of any length.
base::Error fault(std::string_view text, std::string_view reason) {
  return {base::ErrorKind::kInvalidArgument,
          fmt::format("'{}' is not an address: {} (write for example 127.0.0.1:9820, [::1]:9820 or "
                      "unix:///run/cuzk/cuzk.sock)",
                      text.substr(0, 128), reason)};
}

// Removes `prefix` where the text begins with it, and tells whether it did.
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool has_odd_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
}

// `whole` is the text as it was given, for messages; `path` is what follows "unix:". A path may
// hold any byte but zero, so spaces are no fault here.
base::Result<Address> parse_unix(std::string_view whole, std::string_view path) {
  take_prefix(path, "//");
  if (path.empty()) return fault(whole, "the socket's path is missing");
  if (path.size() > kUnixPathBytesMax) {
    return fault(whole, fmt::format("a socket's path has at most {} bytes, this one has {}",
                                    kUnixPathBytesMax, path.size()));
  }
  if (path.find('\0') != std::string_view::npos) return fault(whole, "the path has a zero byte");
  Address address;
  address.kind = Address::Kind::kUnix;
  address.path = std::string(path);
  return address;
}

// Port 0 passes: a listener lets the system choose, and a client that is given it fails when it
// connects.
base::Result<std::uint16_t> parse_port(std::string_view whole, std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || port > 65535) {
    return fault(whole, "the port is no number from 0 to 65535");
  }
  return static_cast<std::uint16_t>(port);
}

}  // namespace

// Each fault ends it: of one text the first thing that is wrong says enough.
base::Result<Address> parse_address(std::string_view whole) {
  std::string_view text = whole;
  if (take_prefix(text, kUnix)) return parse_unix(whole, text);
  if (take_prefix(text, "http://") || take_prefix(text, "https://")) {
    // As browsers and tools copy it.
    if (text.ends_with('/')) text.remove_suffix(1);
  }
  if (text.empty()) return fault(whole, "it is empty");
  if (has_odd_character(text)) return fault(whole, "it has a space or a control character");
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fault(whole, "the port is missing");
  std::string_view host = text.substr(0, colon);
  Address address;
  CUZK_TRY(address.port, parse_port(whole, text.substr(colon + 1)));
  if (host.starts_with('[')) {
    // "[::]" is the shortest.
    if (!host.ends_with(']') || host.size() < 4) return fault(whole, "the bracket has no end");
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return fault(whole, "an IPv6 address stands in brackets");
  }
  if (host.size() > kHostBytesMax) return fault(whole, "the host's name is too long");
  if (host.find_first_of("/@[]?#") != std::string_view::npos) {
    return fault(whole, "the host has a character that no host's name has");
  }
  address.host = host.empty() ? "0.0.0.0" : std::string(host);
  return address;
}

base::Result<std::optional<Address>> parse_optional_address(std::string_view text) {
  if (text.empty() || text == "off") return std::optional<Address>();
  auto address = parse_address(text);
  if (!address.ok()) {
    return base::Error{address.error().kind, address.error().message + "; for none write off"};
  }
  return std::optional<Address>(std::move(address).value());
}

// By the text alone: another name of this machine counts as remote, so that a doubt asks for a
// token too often and never too seldom.
bool Address::is_local() const {
  return kind == Kind::kUnix || host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

// An IPv6 literal gets its brackets back, or its last part would read as a port.
std::string Address::to_string() const {
  if (kind == Kind::kUnix) return fmt::format("unix://{}", path.string());
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

std::string Address::grpc_target() const {
  return kind == Kind::kUnix ? fmt::format("unix:{}", path.string()) : to_string();
}

}  // namespace cuzk::service
