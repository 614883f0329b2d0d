// Listening sockets by address. The one place of the HTTP door that knows TCP from unix sockets;
// what is accepted looks the same.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "service/address.h"
#include "service/unix_socket.h"

namespace cuzk::service {

// A descriptor that listens at `address`, whose port is filled in where the system chose it. A unix
// socket that nobody serves any more is replaced; `place` is then held, and to be released when the
// socket is gone. Errors: see HttpListener::start.
base::Result<int> listen_at(Address& address, std::uint32_t socket_mode, SocketPlace& place);

}  // namespace cuzk::service
