// Binding without SO_REUSEPORT: a second daemon at the same port must be refused, not share it. Not
// blocking, since whoever accepts waits in poll(2) for more than connections.
#include "service/http_socket.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

namespace cuzk::service {
namespace {

// Clients that come at once, before they are accepted.
constexpr int kBacklog = 256;

// Closed when it dies, unless release() has given it on.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

// `error` is errno's value right after the call that failed.
base::Error failure(const Address& address, const char* action, int error) {
  const bool taken = error == EADDRINUSE;
  return {taken ? base::ErrorKind::kAlreadyExists : base::ErrorKind::kIo,
          fmt::format("{}: {}: {}", address.to_string(), action,
                      taken ? "another process listens there" : std::strerror(error))};
}

// Of a name with several addresses the first one counts: a listener is one socket.
base::Result<int> listen_tcp(Address& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", address.port);
  if (const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    return base::Error{
        base::ErrorKind::kInvalidArgument,
        fmt::format("{}: the host has no address: {}", address.to_string(), ::gai_strerror(error))};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  Descriptor descriptor(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (descriptor.get() < 0) return failure(address, "no socket", errno);
  // Connections of a daemon before us that linger in the kernel do not keep the port.
  const int yes = 1;
  ::setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(descriptor.get(), found->ai_addr, found->ai_addrlen) != 0) {
    return failure(address, "cannot listen", errno);
  }
  if (::listen(descriptor.get(), kBacklog) != 0) return failure(address, "cannot listen", errno);
  // Which port the system has chosen.
  sockaddr_storage bound = {};
  socklen_t size = sizeof bound;
  ::getsockname(descriptor.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  address.port =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                        : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  return descriptor.release();
}

sockaddr_un unix_address(const Address& address) {
  sockaddr_un at = {};
  at.sun_family = AF_UNIX;
  address.path.native().copy(at.sun_path, sizeof at.sun_path - 1);
  return at;
}

// A file left by an earlier daemon is cleared before; what is alive, or no socket, is refused.
base::Result<int> listen_unix(const Address& address, std::uint32_t mode, SocketPlace& place) {
  CUZK_ASSERT(address.kind == Address::Kind::kUnix);
  const sockaddr_un at = unix_address(address);
  CUZK_TRY(place, SocketPlace::take(address.path));
  Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (descriptor.get() < 0) return failure(address, "no socket", errno);
  if (::bind(descriptor.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
    return failure(address, "cannot listen", errno);
  }
  // Nobody can connect before listen(), so the mode is right from the first client on.
  CUZK_TRY_STATUS(set_socket_mode(address.path, mode));
  if (::listen(descriptor.get(), kBacklog) != 0) return failure(address, "cannot listen", errno);
  return descriptor.release();
}

}  // namespace

base::Result<int> listen_at(Address& address, std::uint32_t socket_mode, SocketPlace& place) {
  return address.kind == Address::Kind::kUnix ? listen_unix(address, socket_mode, place)
                                              : listen_tcp(address);
}

}  // namespace cuzk::service
